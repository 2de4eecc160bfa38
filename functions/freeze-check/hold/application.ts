import type { Operation } from 'fast-json-patch';
import { pointer } from '../../../lib/kube/model/plan.ts';
import type { Resource } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { DenyPolicy } from '../policy.ts';
import { isRecord } from '../../../lib/base/json.ts';
import { annotation, annotationOf, type Change, type HeldKind, type Selection } from './kind.ts';

type Automated = Readonly<Record<string, unknown>>;

/** The little that matters here of an Argo CD Application. */
export interface Application extends KubeObject {
  readonly spec?: { readonly syncPolicy?: { readonly automated?: Automated | null } | null };
}

export const applications: Resource<Application> = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  kind: 'Application',
  plural: 'applications',
  namespaced: true,
};

const field = pointer('spec', 'syncPolicy', 'automated');
const enabledField = `${field}/enabled`;

/** Argo CD syncs nothing by itself while `automated` is absent or not enabled. */
export const heldApplications: HeldKind<Application> = {
  resource: applications,
  family: 'GitOps',
  ownerAnnotation: annotation.owner,
  noteAnnotation: annotation.autosync,
  selectedBy,
  isStill: (application) => isOff(automatedOf(application)),
  stop,
  // Who turns syncing on during a freeze gets it after the freeze as they wrote it, so that nothing they wrote is lost.
  stopAgain: stop,
  restore,
  contestedBy: ({ metadata }) =>
    metadata?.ownerReferences?.find(({ kind, apiVersion }) => isApplicationSet(kind, apiVersion))?.name,
  losesMarks: true,
};

function selectedBy({ spec }: DenyPolicy): Selection | undefined {
  const gitops = spec.behavior?.gitops;
  const asked = gitops?.enabled === true && gitops.providers?.includes('argocd') === true ? gitops.argocd : undefined;
  return asked && { namespaceSelector: asked.namespaceSelector, objectSelector: asked.applicationSelector };
}

function stop(application: Application, { spec }: DenyPolicy): Change {
  const automated = automatedOf(application);
  const mode = spec.behavior?.gitops?.argocd?.pauseMode ?? 'DisableAutoSync';
  return {
    operations: isOff(automated) ? [] : [mode === 'SetEnabledFalse' ? disable : remove],
    annotations: { [annotation.autosync]: JSON.stringify(automated ?? null) },
  };
}

const remove: Operation = { op: 'remove', path: field };
const disable: Operation = { op: 'add', path: enabledField, value: false };

function restore(application: Application): Change {
  return { operations: restoration(application), annotations: { [annotation.autosync]: undefined } };
}

/** Undoes what `stop` did and nothing else: what somebody has changed in the meantime is the newer wish. */
function restoration(application: Application): Operation[] {
  const noted = notedIn(application);
  const automated = automatedOf(application);
  if (noted === undefined || !isOff(automated)) {
    return [];
  }
  if (automated === undefined) {
    return [put(application, noted)];
  }
  const wasEnabled = noted['enabled'];
  if (wasEnabled === undefined) {
    return [{ op: 'remove', path: enabledField }];
  }
  return wasEnabled === false ? [] : [{ op: 'add', path: enabledField, value: wasEnabled }];
}

/** The parent of the field may have gone. */
function put({ spec }: Application, automated: Automated): Operation {
  return isRecord(spec?.syncPolicy)
    ? { op: 'add', path: field, value: automated }
    : { op: 'add', path: pointer('spec', 'syncPolicy'), value: { automated } };
}

/** What was noted; `undefined` where there was nothing, or where somebody left something else in its place. */
function notedIn(application: Application): Automated | undefined {
  try {
    const noted: unknown = JSON.parse(annotationOf(application, annotation.autosync) ?? 'null');
    return isRecord(noted) ? noted : undefined;
  } catch {
    return undefined;
  }
}

function automatedOf({ spec }: Application): Automated | undefined {
  return spec?.syncPolicy?.automated ?? undefined;
}

function isOff(automated: Automated | undefined): boolean {
  return automated === undefined || automated['enabled'] === false;
}

function isApplicationSet(kind: string, apiVersion: string): boolean {
  return kind === 'ApplicationSet' && apiVersion.startsWith('argoproj.io/');
}
