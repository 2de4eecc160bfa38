import type { Resource } from '../../lib/kube/model/resource.ts';
import type { LabelSelector } from '../../lib/kube/model/selector.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';

/** What is done to a workload. A review may be several of these at once. */
export type Action = 'CREATE' | 'DELETE' | 'ROLL_OUT' | 'SCALE';
export const actions: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];

export type TargetKind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'CronJob';
export const targetKinds: readonly TargetKind[] = ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'];

/** `Warn` lets the change pass with a warning, `Audit` only counts it. */
export type Enforcement = 'Enforce' | 'Warn' | 'Audit';
export const enforcements: readonly Enforcement[] = ['Enforce', 'Warn', 'Audit'];

/** On a Namespace: overrides how the policies there are enforced. */
export const enforcementLabel = 'freeze-check.kube-reflex.dev/enforcement';

export interface Target {
  readonly kinds: readonly TargetKind[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

export interface Rules {
  readonly deny: readonly Action[];
  /** Lets a rollout pass that goes back to an earlier revision. */
  readonly allowRollback?: boolean;
}

export interface Message {
  readonly reason?: string;
  readonly docsURL?: string;
  readonly contact?: string;
}

export interface Behavior {
  readonly suspendCronJobs?: boolean;
  readonly gitops?: GitOps;
}

export interface GitOps {
  readonly enabled: boolean;
  readonly providers?: readonly ('argocd' | 'flux')[];
  readonly argocd?: {
    readonly applicationSelector?: LabelSelector;
    readonly namespaceSelector?: LabelSelector;
    readonly pauseMode?: 'DisableAutoSync' | 'SetEnabledFalse';
  };
  readonly flux?: {
    readonly kustomizationSelector?: LabelSelector;
    readonly helmReleaseSelector?: LabelSelector;
    readonly namespaceSelector?: LabelSelector;
  };
}

/** What a policy that denies has in common with the others. */
interface DenySpec {
  readonly target: Target;
  readonly rules: Rules;
  readonly enforcement?: Enforcement;
  readonly behavior?: Behavior;
  readonly message?: Message;
}

/** Either once, from `startTime` to `endTime`, or again and again by `schedule` and `duration`. */
export interface ChangeFreezeSpec extends DenySpec {
  readonly startTime?: string;
  readonly endTime?: string;
  readonly schedule?: string;
  readonly duration?: string;
  /** Zone of the schedule; of `startTime` and `endTime` for display only. */
  readonly timezone?: string;
}

export interface Window {
  readonly name: string;
  /** Five-field cron expression, with an optional `CRON_TZ=<zone> ` before it. */
  readonly schedule: string;
  readonly duration: string;
  /** What becomes of a start that the clock skips in spring. */
  readonly onSkipped?: 'Skip' | 'NextValid';
}

export interface MaintenanceWindowSpec extends DenySpec {
  readonly timezone: string;
  readonly mode: 'DenyOutsideWindows' | 'DenyInsideWindows';
  readonly windows: readonly Window[];
}

export interface FreezeExceptionSpec {
  readonly activeFrom: string;
  readonly activeTo: string;
  readonly target: Target;
  readonly allow: readonly Action[];
  readonly reason: string;
  readonly ticketURL?: string;
  readonly approvedBy?: string;
  readonly constraints?: Constraints;
}

export interface Constraints {
  readonly requireLabels?: Readonly<Record<string, string>>;
  readonly allowedUsers?: readonly string[];
  readonly allowedGroups?: readonly string[];
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

interface CommonStatus {
  readonly active?: boolean;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

interface DenyStatus extends CommonStatus {
  readonly gitopsPausedCount?: number;
  readonly gitopsLastReconcileTime?: string;
}

/** One opening of a window. */
export interface WindowStatus {
  readonly name: string;
  readonly startTime: string;
  readonly endTime: string;
}

export interface MaintenanceWindowStatus extends DenyStatus {
  readonly activeWindow?: WindowStatus;
  readonly nextWindow?: WindowStatus;
}

export interface ChangeFreezeStatus extends DenyStatus {
  readonly timeRemaining?: string;
}

export interface ChangeFreeze extends KubeObject {
  readonly kind?: 'ChangeFreeze';
  readonly spec: ChangeFreezeSpec;
  readonly status?: ChangeFreezeStatus;
}

export interface MaintenanceWindow extends KubeObject {
  readonly kind?: 'MaintenanceWindow';
  readonly spec: MaintenanceWindowSpec;
  readonly status?: MaintenanceWindowStatus;
}

export interface FreezeException extends KubeObject {
  readonly kind?: 'FreezeException';
  readonly spec: FreezeExceptionSpec;
  readonly status?: CommonStatus;
}

/** The policies that can refuse a change. */
export type DenyPolicy = ChangeFreeze | MaintenanceWindow;
export type Policy = DenyPolicy | FreezeException;
export type DenyKind = 'ChangeFreeze' | 'MaintenanceWindow';
export type PolicyKind = DenyKind | 'FreezeException';

export const group = 'freeze-operator.io';
export const version = 'v1alpha1';

export const changeFreezes: Resource<ChangeFreeze> = resource('ChangeFreeze', 'changefreezes');
export const maintenanceWindows: Resource<MaintenanceWindow> = resource('MaintenanceWindow', 'maintenancewindows');
export const freezeExceptions: Resource<FreezeException> = resource('FreezeException', 'freezeexceptions');

function resource<T extends Policy>(kind: PolicyKind, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: false };
}
