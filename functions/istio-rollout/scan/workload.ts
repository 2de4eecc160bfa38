import type {
  DaemonSet,
  Deployment,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../../lib/kube/resource.ts';
import type { LabelSelector } from '../../../lib/kube/selector.ts';
import type { KubeObject } from '../../../lib/kube/wire.ts';
import { isOwnAnnotation } from '../names.ts';
import type { ByKind, Rollout, WorkloadKind } from './kinds.ts';

/** What has pods and can be made to replace them, the same for all kinds. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Only our own; others may be large. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly hasAnnotations: boolean;
  readonly template: Template;
  readonly hasTemplateMetadata: boolean;
  readonly selector: LabelSelector;
  /** How many pods it should have. */
  readonly replicas: number;
  /** Which pods are of the present template: compared with what pods and ReplicaSets carry. */
  readonly revision: string | undefined;
  /** Its controller has seen the present template. */
  readonly isObserved: boolean;
  readonly progress: Progress;
  /** Why a restart would not replace its pods. */
  readonly hold?: 'Paused' | 'OnDelete';
  /** Pods of a lower ordinal keep their template. */
  readonly partition: number;
  /** A Rollout's own way to be restarted. */
  readonly restartAt?: string;
}

export interface Template {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: NonNullable<Pod['spec']>;
}

/** `settled`: all pods are of the present template and available. */
export type Progress = 'settled' | 'progressing' | 'failed';

export function workloadOf<Kind extends WorkloadKind>(kind: Kind, object: ByKind[Kind]): Workload | undefined {
  const readers: { readonly [K in WorkloadKind]: (object: ByKind[K]) => Details | undefined } = {
    Deployment: ofDeployment,
    StatefulSet: ofStatefulSet,
    DaemonSet: ofDaemonSet,
    Rollout: ofRollout,
    ReplicaSet: ofReplicas,
    ReplicationController: ofReplicationController,
  };
  const details = readers[kind](object);
  return details === undefined ? undefined : { kind, ...identityOf(object), ...details };
}

type Identity = Pick<
  Workload,
  'namespace' | 'name' | 'uid' | 'resourceVersion' | 'generation' | 'annotations' | 'hasAnnotations'
>;
type Details = Omit<Workload, keyof Identity | 'kind'>;

function identityOf({ metadata = {} }: KubeObject): Identity {
  const { namespace = '', name = '', uid = '', resourceVersion = '', generation = 0, annotations } = metadata;
  const own = Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => isOwnAnnotation(key)));
  const hasAnnotations = annotations !== undefined;
  return { namespace, name, uid, resourceVersion, generation, annotations: own, hasAnnotations };
}

interface GivenTemplate {
  readonly metadata?: Pick<NonNullable<KubeObject['metadata']>, 'labels' | 'annotations'>;
  readonly spec?: NonNullable<Pod['spec']>;
}

function templateOf({ metadata, spec }: GivenTemplate = {}): Pick<Workload, 'template' | 'hasTemplateMetadata'> {
  const { labels = {}, annotations = {} } = metadata ?? {};
  return {
    template: { labels, annotations, spec: spec ?? { containers: [] } },
    hasTemplateMetadata: metadata !== undefined,
  };
}

function ofDeployment({ metadata, spec, status }: Deployment): Details {
  const replicas = spec?.replicas ?? 1;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const counts = [status?.updatedReplicas, status?.replicas, status?.availableReplicas].map((count) => count ?? 0);
  const isFailed = status?.conditions?.some(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  );
  return {
    ...templateOf(spec?.template),
    selector: spec?.selector ?? {},
    replicas,
    revision: metadata?.annotations?.['deployment.kubernetes.io/revision'],
    isObserved,
    progress: progressOf(isObserved && counts.every((count) => count === replicas), isObserved && isFailed === true),
    ...(spec?.paused === true ? { hold: 'Paused' as const } : {}),
    partition: 0,
  };
}

function ofStatefulSet({ metadata, spec, status }: StatefulSet): Details {
  const replicas = spec?.replicas ?? 1;
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const onDelete = spec?.updateStrategy?.type === 'OnDelete';
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const isOneRevision = status?.currentRevision === status?.updateRevision;
  const updated = isOneRevision ? replicas : (status?.updatedReplicas ?? 0);
  const isAvailable = (status?.availableReplicas ?? status?.readyReplicas ?? 0) >= replicas;
  const isUpdated = onDelete || updated >= Math.max(0, replicas - partition);
  return {
    ...templateOf(spec?.template),
    selector: spec?.selector ?? {},
    replicas,
    revision: status?.updateRevision,
    isObserved,
    progress: progressOf(isObserved && isUpdated && isAvailable),
    ...(onDelete ? { hold: 'OnDelete' as const } : {}),
    partition,
  };
}

function ofDaemonSet({ metadata, spec, status }: DaemonSet): Details {
  const replicas = status?.desiredNumberScheduled ?? 0;
  const onDelete = spec?.updateStrategy?.type === 'OnDelete';
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const isUpdated = onDelete || (status?.updatedNumberScheduled ?? 0) >= replicas;
  const isAvailable = (status?.numberAvailable ?? 0) >= replicas;
  return {
    ...templateOf(spec?.template),
    selector: spec?.selector ?? {},
    replicas,
    revision: metadata?.annotations?.['deprecated.daemonset.template.generation'],
    isObserved,
    progress: progressOf(isObserved && isUpdated && isAvailable),
    ...(onDelete ? { hold: 'OnDelete' as const } : {}),
    partition: 0,
  };
}

/** One whose template lives in another workload is that workload's affair. */
function ofRollout({ metadata, spec, status }: Rollout): Details | undefined {
  if (spec?.template === undefined) {
    return undefined;
  }
  const isObserved = Number(status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const isRestarted = spec.restartAt === undefined || atLeast(status?.restartedAt, spec.restartAt);
  return {
    ...templateOf(spec.template),
    selector: spec.selector ?? {},
    replicas: spec.replicas ?? 1,
    revision: undefined,
    isObserved: true, // its generation counts in its own way; the phase tells what matters
    progress: progressOf(isObserved && isRestarted && status?.phase === 'Healthy', status?.phase === 'Degraded'),
    ...(spec.paused === true ? { hold: 'Paused' as const } : {}),
    partition: 0,
    ...(spec.restartAt === undefined ? {} : { restartAt: spec.restartAt }),
  };
}

function atLeast(time: string | undefined, wanted: string): boolean {
  return time !== undefined && Date.parse(time) >= Date.parse(wanted);
}

/** Bare ones only: it never replaces pods by itself, which is why they are evicted. */
function ofReplicas({ metadata, spec, status }: ReplicaSet): Details | undefined {
  if (metadata?.ownerReferences?.some(({ controller }) => controller === true) === true) {
    return undefined;
  }
  const replicas = spec?.replicas ?? 1;
  return {
    ...templateOf(spec?.template),
    selector: spec?.selector ?? {},
    replicas,
    revision: undefined,
    isObserved: true,
    progress: progressOf((status?.availableReplicas ?? 0) >= replicas),
    hold: 'OnDelete',
    partition: 0,
  };
}

function ofReplicationController({ metadata, spec, status }: ReplicationController): Details | undefined {
  const selector = { matchLabels: spec?.selector ?? {} };
  return ofReplicas({
    ...(metadata && { metadata }),
    spec: { ...spec, selector },
    ...(status && { status }),
  } as ReplicaSet);
}

function progressOf(isSettled: boolean, isFailed = false): Progress {
  if (isSettled) {
    return 'settled';
  }
  return isFailed ? 'failed' : 'progressing';
}
