import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import { targetKinds, type Action, type TargetKind } from './policy.ts';
import { isRecord } from '../../lib/base/json.ts';
import { isSame } from './same.ts';
import type { Labels } from './target.ts';

/** A workload as reviews carry it, as far as a decision looks at it. */
export interface Workload {
  readonly metadata: {
    readonly name?: string;
    readonly uid?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly unknown[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** What a request would do to a workload. */
export interface Change {
  readonly kind: TargetKind;
  /** Empty for a create with `generateName`. */
  readonly name: string;
  /** In the order in which a refusal names them. */
  readonly actions: readonly Action[];
  /** The workload after the change; of a delete, the last that there was. */
  readonly workload: Workload;
  /** Of an update. */
  readonly before?: Workload;
}

export type Classified =
  | { readonly is: 'change'; readonly change: Change }
  /** Says too little: the workload itself has to be read. */
  | { readonly is: 'scale'; readonly kind: TargetKind }
  /** Lets a workload go that is being deleted. */
  | { readonly is: 'cleanup' }
  /** Touches nothing that anybody wrote. */
  | { readonly is: 'noop'; readonly change: Change }
  /** Not about a workload. */
  | { readonly is: 'foreign' }
  | { readonly is: 'malformed'; readonly why: string };

const groups: Readonly<Record<TargetKind, string>> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  DaemonSet: 'apps',
  CronJob: 'batch',
};

const scalable = new Map<string, TargetKind>([
  ['deployments', 'Deployment'],
  ['statefulsets', 'StatefulSet'],
]);

/** What a review asks. The kind of a scale is `autoscaling/v1 Scale`, so only its resource tells what is scaled. */
export function classify(request: AdmissionRequest): Classified {
  const { kind, resource, subResource = '', operation } = request;
  if (subResource === 'scale' && resource.group === 'apps') {
    const scaled = operation === 'UPDATE' ? scalable.get(resource.resource) : undefined;
    return scaled === undefined ? { is: 'foreign' } : { is: 'scale', kind: scaled };
  }
  const target = targetKinds.find((name) => name === kind.kind && groups[name] === kind.group);
  return target === undefined || subResource !== '' ? { is: 'foreign' } : classifyWorkload(target, request);
}

function classifyWorkload(kind: TargetKind, request: AdmissionRequest): Classified {
  const { operation, object, oldObject } = request;
  switch (operation) {
    case 'CREATE':
      return isWorkload(object) ? changed(kind, request, object, [operation]) : unreadable(kind);
    case 'DELETE':
      return isWorkload(oldObject) ? changed(kind, request, oldObject, [operation]) : unreadable(kind);
    case 'UPDATE':
      return isWorkload(object) && isWorkload(oldObject)
        ? classifyUpdate({ kind, name: nameOf(request, object), workload: object, before: oldObject })
        : unreadable(kind);
    case 'CONNECT':
    default: // whatever a later API server may send
      return { is: 'malformed', why: `operation ${JSON.stringify(operation)} is not supported` };
  }
}

function changed(
  kind: TargetKind,
  request: AdmissionRequest,
  workload: Workload,
  actions: readonly Action[],
): Classified {
  return { is: 'change', change: { kind, name: nameOf(request, workload), workload, actions } };
}

/** The items of a delete-collection come without a name of their own. */
function nameOf({ name = '' }: AdmissionRequest, { metadata }: Workload): string {
  return name === '' ? (metadata.name ?? '') : name;
}

function unreadable(kind: TargetKind): Classified {
  return { is: 'malformed', why: `the review carries no ${kind} that can be read` };
}

function classifyUpdate(update: Omit<Change, 'actions'> & { readonly before: Workload }): Classified {
  const { kind, workload, before } = update;
  const sameFinalizers = isSame(workload.metadata.finalizers, before.metadata.finalizers);
  const sameOtherwise = isSame(written(workload), written(before));
  if (sameOtherwise && !sameFinalizers && before.metadata.deletionTimestamp !== undefined) {
    return { is: 'cleanup' };
  }
  const change = { ...update, actions: sameOtherwise ? (['ROLL_OUT'] as const) : actionsOf(kind, workload, before) };
  return { is: sameOtherwise && sameFinalizers ? 'noop' : 'change', change };
}

/** All that people and controllers write, but the finalizers. */
function written({ metadata: { labels, annotations, ownerReferences }, spec }: Workload): unknown {
  return { labels, annotations, ownerReferences, spec };
}

/** What changes neither the template nor the replicas counts as a rollout: strict on purpose. */
function actionsOf(kind: TargetKind, workload: Workload, before: Workload): readonly Action[] {
  const hasReplicas = kind === 'Deployment' || kind === 'StatefulSet';
  const scales = hasReplicas && !isSame(workload.spec?.['replicas'], before.spec?.['replicas']);
  const rollsOut = !scales || !isSame(workload.spec?.['template'], before.spec?.['template']);
  return [...(rollsOut ? (['ROLL_OUT'] as const) : []), ...(scales ? (['SCALE'] as const) : [])];
}

/** The labels and the spec but for these fields. Annotations are left out: tools keep their notes there. */
export function besides(fields: readonly string[], { metadata: { labels }, spec }: Workload): unknown {
  return { labels, spec: Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => !fields.includes(name))) };
}

function isWorkload(value: unknown): value is Workload {
  return isRecord(value) && isMetadata(value['metadata']) && isSpec(value['spec']);
}

function isMetadata(value: unknown): boolean {
  if (!isRecord(value)) {
    return false;
  }
  const { name = '', labels, annotations, finalizers } = value;
  const hasTexts = typeof name === 'string' && isTextMap(labels) && isTextMap(annotations);
  return hasTexts && (isAbsent(finalizers) || Array.isArray(finalizers));
}

function isSpec(value: unknown): boolean {
  return isAbsent(value) || (isRecord(value) && (isAbsent(value['template']) || isRecord(value['template'])));
}

function isTextMap(value: unknown): boolean {
  return isAbsent(value) || (isRecord(value) && Object.values(value).every((each) => typeof each === 'string'));
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
