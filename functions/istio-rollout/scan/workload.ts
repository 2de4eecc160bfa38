import type {
  DaemonSet,
  Deployment,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../../lib/kube/model/resource.ts';
import type { LabelSelector } from '../../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
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
  readonly hold?: 'Paused' | 'OnDelete' | 'Partitioned';
  /** How many pods keep their template, since their ordinals are lower than the partition. */
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
  // Nobody checks the template of a custom kind before it is stored, or fills in what is always there in a pod.
  const containers = Array.isArray(spec?.containers) ? spec.containers.map(withProtocols) : [];
  return {
    template: { labels, annotations, spec: { ...spec, containers } },
    hasTemplateMetadata: metadata !== undefined,
  };
}

type Container = Template['spec']['containers'][number];

function withProtocols({ ports, ...container }: Container): Container {
  return ports === undefined
    ? container
    : { ...container, ports: ports.map((port) => ({ ...port, protocol: port.protocol ?? 'TCP' })) };
}

function ofDeployment(object: Deployment): Details {
  const { metadata = {}, spec, status = {} } = object;
  const { replicas = 1, selector = {}, template, paused = false } = spec ?? {};
  const isObserved = isObservedIn(object);
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas].map(number);
  return {
    ...templateOf(template),
    selector,
    replicas,
    revision: metadata.annotations?.['deployment.kubernetes.io/revision'],
    isObserved,
    progress: progressOf(isObserved && counts.every((count) => count === replicas), isObserved && isStuck(object)),
    ...holdIf(paused, 'Paused'),
    partition: 0,
  };
}

function isStuck({ status }: Deployment): boolean {
  const conditions = status?.conditions ?? [];
  return conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded');
}

function ofStatefulSet(object: StatefulSet): Details {
  const { replicas = 1, selector = {}, template, updateStrategy = {} } = object.spec ?? {};
  const partition = partitionOf(object, replicas);
  const onDelete = updateStrategy.type === 'OnDelete';
  const isObserved = isObservedIn(object);
  const isDone = isAvailable(object, replicas) && (onDelete || updatedOf(object, replicas) >= replicas - partition);
  return {
    ...templateOf(template),
    selector,
    replicas,
    revision: object.status?.updateRevision,
    isObserved,
    progress: progressOf(isObserved && isDone),
    ...holdIf(partition > 0 && partition === replicas, 'Partitioned'),
    ...holdIf(onDelete, 'OnDelete'),
    partition,
  };
}

function partitionOf({ spec }: StatefulSet, replicas: number): number {
  const first = number(spec?.ordinals?.start);
  return Math.max(0, Math.min(number(spec?.updateStrategy?.rollingUpdate?.partition) - first, replicas));
}

function isAvailable({ status }: StatefulSet, replicas: number): boolean {
  return number(status?.availableReplicas ?? status?.readyReplicas) >= replicas;
}

/** Once all pods are of one revision, none counts as updated any more. */
function updatedOf({ status = { replicas: 0 } }: StatefulSet, replicas: number): number {
  return status.currentRevision === status.updateRevision ? replicas : number(status.updatedReplicas);
}

const noDaemons: NonNullable<DaemonSet['status']> = {
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
};

function ofDaemonSet(object: DaemonSet): Details {
  const { metadata = {}, spec, status = noDaemons } = object;
  const { selector = {}, template, updateStrategy = {} } = spec ?? {};
  const onDelete = updateStrategy.type === 'OnDelete';
  const isObserved = isObservedIn(object);
  const replicas = number(status.desiredNumberScheduled);
  const counts = [onDelete ? replicas : status.updatedNumberScheduled, status.numberAvailable].map(number);
  return {
    ...templateOf(template),
    selector,
    replicas,
    revision: metadata.annotations?.['deprecated.daemonset.template.generation'],
    isObserved,
    progress: progressOf(isObserved && counts.every((count) => count >= replicas)),
    ...holdIf(onDelete, 'OnDelete'),
    partition: 0,
  };
}

/** One whose template lives in another workload cannot be judged by itself: its pods are reported. */
function ofRollout(object: Rollout): Details | undefined {
  if (object.spec?.template === undefined) {
    return undefined;
  }
  const { template, selector = {}, replicas = 1, restartAt, paused = false } = object.spec;
  return {
    ...templateOf(template),
    selector,
    replicas,
    revision: undefined,
    isObserved: true, // its generation counts in its own way; the phase tells what matters
    progress: progressOf(isHealthy(object), object.status?.phase === 'Degraded'),
    ...holdIf(paused, 'Paused'),
    partition: 0,
    ...(restartAt !== undefined && { restartAt }),
  };
}

function isHealthy({ metadata, spec, status = {} }: Rollout): boolean {
  const isObserved = Number(status.observedGeneration ?? 0) >= number(metadata?.generation);
  const isRestarted = spec?.restartAt === undefined || atLeast(status.restartedAt, spec.restartAt);
  return isObserved && isRestarted && status.phase === 'Healthy';
}

function atLeast(time: string | undefined, wanted: string): boolean {
  return time !== undefined && Date.parse(time) >= Date.parse(wanted);
}

/** Bare ones only: it never replaces pods by itself, which is why they are evicted. */
function ofReplicas({ metadata, spec, status }: ReplicaSet): Details | undefined {
  const owners = metadata?.ownerReferences ?? [];
  const replicas = spec?.replicas ?? 1;
  return owners.some(({ controller }) => controller === true)
    ? undefined
    : {
        ...templateOf(spec?.template),
        selector: spec?.selector ?? {},
        replicas,
        revision: undefined,
        isObserved: true,
        progress: progressOf(number(status?.availableReplicas) >= replicas),
        hold: 'OnDelete',
        partition: 0,
      };
}

function ofReplicationController({ metadata, spec, status }: ReplicationController): Details | undefined {
  const selector = { matchLabels: spec?.selector ?? {} };
  return ofReplicas({ ...(metadata && { metadata }), spec: { ...spec, selector }, ...(status && { status }) });
}

/** The controller has seen the present generation. */
function isObservedIn({ metadata, status }: Deployment | StatefulSet | DaemonSet): boolean {
  return number(status?.observedGeneration) >= number(metadata?.generation);
}

/** Counts of zero are absent on the wire. */
function number(count: number | undefined): number {
  return count ?? 0;
}

function holdIf(isHeld: boolean, hold: NonNullable<Workload['hold']>): Pick<Workload, 'hold'> {
  return isHeld ? { hold } : {};
}

function progressOf(isSettled: boolean, isFailed = false): Progress {
  if (isSettled) {
    return 'settled';
  }
  return isFailed ? 'failed' : 'progressing';
}
