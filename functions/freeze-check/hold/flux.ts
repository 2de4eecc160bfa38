import type { Resource } from '../../../lib/kube/model/resource.ts';
import type { GitOps } from '../policy.ts';
import { annotation, type HeldKind, type Selection } from './kind.ts';
import { restoreOptionalSuspend, suspension, type Suspendable } from './suspend.ts';

export const kustomizations: Resource<Suspendable> = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'Kustomization',
  plural: 'kustomizations',
  namespaced: true,
};

export const helmReleases: Resource<Suspendable> = {
  group: 'helm.toolkit.fluxcd.io',
  version: 'v2',
  kind: 'HelmRelease',
  plural: 'helmreleases',
  namespaced: true,
};

export const heldKustomizations = heldFlux(kustomizations, 'kustomizationSelector');
export const heldHelmReleases = heldFlux(helmReleases, 'helmReleaseSelector');

/** Flux reconciles nothing that is suspended. */
function heldFlux(
  resource: Resource<Suspendable>,
  selector: 'kustomizationSelector' | 'helmReleaseSelector',
): HeldKind<Suspendable> {
  return {
    resource,
    family: 'GitOps',
    ownerAnnotation: annotation.owner,
    noteAnnotation: annotation.suspend,
    selectedBy: ({ spec }) => selectionOf(spec.behavior?.gitops, selector),
    ...suspension,
    restore: restoreOptionalSuspend,
  };
}

function selectionOf(
  gitops: GitOps | undefined,
  selector: 'kustomizationSelector' | 'helmReleaseSelector',
): Selection | undefined {
  const asked = gitops?.enabled === true && gitops.providers?.includes('flux') === true ? gitops.flux : undefined;
  return asked && { namespaceSelector: asked.namespaceSelector, objectSelector: asked[selector] };
}
