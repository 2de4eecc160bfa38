import type { Pod, StatefulSet } from '../../kube/model/resource.ts';
import type { PersistentVolumeClaim } from './kinds.ts';
import { controllerReference, podFrom, type PodTemplate } from './template.ts';

const revisionLabel = 'controller-revision-hash';
const indexLabel = 'apps.kubernetes.io/pod-index';
const nameLabel = 'statefulset.kubernetes.io/pod-name';

export function ordinalOf({ metadata }: Pod): number {
  return Number(/-(\d+)$/.exec(metadata?.name ?? '')?.[1] ?? -1);
}

/** The name of the revision that a pod was made from. */
export function revisionOfPod({ metadata }: Pod): string {
  return metadata?.labels?.[revisionLabel] ?? '';
}

/** The pod of an ordinal with its stable name and its claims. */
export function statefulPod(set: StatefulSet, ordinal: number, template: PodTemplate, revision: string): Pod {
  const { name: setName = '', namespace = '' } = set.metadata ?? {};
  const name = `${setName}-${ordinal}`;
  const made = podFrom(template, namespace, controllerReference(set, 'apps/v1', 'StatefulSet'));
  const labels = {
    ...made.metadata?.labels,
    [indexLabel]: String(ordinal),
    [revisionLabel]: revision,
    [nameLabel]: name,
  };
  return {
    ...made,
    metadata: { ...made.metadata, name, labels },
    ...(made.spec && {
      spec: {
        ...made.spec,
        hostname: name,
        ...(set.spec?.serviceName !== undefined && { subdomain: set.spec.serviceName }),
        ...volumesOf(set, ordinal, made.spec.volumes ?? []),
      },
    }),
  };
}

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>;

function volumesOf(set: StatefulSet, ordinal: number, own: Volumes): { volumes?: Volumes } {
  const claimed = claimsOf(set, ordinal).map(({ template, claim }) => ({
    name: template,
    persistentVolumeClaim: { claimName: claim.metadata?.name ?? '' },
  }));
  const names = new Set(claimed.map(({ name }) => name));
  const volumes = [...claimed, ...own.filter(({ name }) => !names.has(name))];
  return volumes.length === 0 ? {} : { volumes };
}

/** The claims of an ordinal, each with the name of its template. They outlive the pod. */
export function claimsOf(
  set: StatefulSet,
  ordinal: number,
): readonly { readonly template: string; readonly claim: PersistentVolumeClaim }[] {
  const { name: setName = '', namespace = '' } = set.metadata ?? {};
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const template = metadata?.name ?? '';
    return {
      template,
      claim: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: `${template}-${setName}-${ordinal}`,
          namespace,
          labels: { ...metadata?.labels, ...set.spec?.selector.matchLabels },
          ...(metadata?.annotations && { annotations: metadata.annotations }),
        },
        ...(spec && { spec }),
      },
    };
  });
}
