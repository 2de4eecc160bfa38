import { isDeepStrictEqual } from 'node:util';
import { pointer, unchanged, type PatchStep } from '../../lib/kube/model/plan.ts';
import type { Resource } from '../../lib/kube/model/resource.ts';
import { formatDuration } from '../../lib/time/duration.ts';
import { formatInstant } from '../../lib/time/instant.ts';
import type { ChangeFreezeStatus, Condition, MaintenanceWindowStatus, Policy, PolicyKind } from './policy.ts';
import type { Problem } from './problem.ts';
import type { PolicyState } from './state.ts';
import { driftText, problemText } from './wording.ts';

/** What a pass knows about a policy. */
export interface Findings {
  readonly kind: PolicyKind;
  readonly policy: Policy;
  readonly resource: Resource;
  readonly state: PolicyState;
  readonly problems: readonly Problem[];
  /** GitOps objects that it holds; absent for a policy that holds none by its spec. */
  readonly pausedCount?: number;
  /** Objects that it holds and somebody else will undo, each with whom. */
  readonly contested?: readonly string[];
  /** Not all of those objects could be read: what the status says of them stays. */
  readonly countsAsBefore?: boolean;
  /** It refuses scaling to those who scale by themselves. */
  readonly blocksAutoscalers?: boolean;
}

type Status = ChangeFreezeStatus & MaintenanceWindowStatus;

/** Writes the status where it differs from what is to be told. The stamp of the last look rides on such a write alone. */
export function planStatus(findings: Findings, now: number): PatchStep | undefined {
  const { policy, resource } = findings;
  const current: Status = policy.status ?? {};
  const { gitopsLastReconcileTime: stamp, ...told } = current;
  const wanted = statusOf(findings, now);
  if (isDeepStrictEqual(told, wanted)) {
    return undefined;
  }
  const lastLook = findings.pausedCount === undefined ? stamp : formatInstant(now);
  const value: Status = { ...wanted, ...(lastLook === undefined ? {} : { gitopsLastReconcileTime: lastLook }) };
  return {
    do: 'patch',
    resource,
    name: policy.metadata?.name ?? '',
    subresource: 'status',
    operations: [unchanged(policy), { op: 'add', path: pointer('status'), value }],
    why: `${findings.kind} is ${findings.state.active ? 'active' : 'not active'}`,
  };
}

/** Whether the status tells all but the time that is left: then the policy was looked at since it last changed. */
export function isTold({ policy, state }: Pick<Findings, 'policy' | 'state'>): boolean {
  const { active, observedGeneration } = policy.status ?? {};
  return active === state.active && observedGeneration === policy.metadata?.generation;
}

function statusOf(findings: Findings, now: number): Omit<Status, 'gitopsLastReconcileTime'> {
  const { kind, policy, state, pausedCount } = findings;
  const { activeWindow, nextWindow } = state;
  const generation = policy.metadata?.generation;
  return {
    active: state.active,
    ...(kind === 'ChangeFreeze' && state.active ? remaining(state, now) : {}),
    ...(activeWindow === undefined ? {} : { activeWindow }),
    ...(nextWindow === undefined ? {} : { nextWindow }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(pausedCount === undefined ? {} : { gitopsPausedCount: pausedCount }),
    conditions: conditionsOf(findings, now),
  };
}

/** In whole minutes, so that it changes, and is written, no more than once a minute. */
function remaining({ until }: PolicyState, now: number): ChangeFreezeStatus {
  return until === undefined ? {} : { timeRemaining: formatDuration(Math.ceil((until - now) / 60_000) * 60_000) };
}

type Told = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const ours = new Set(['Active', 'Ready', 'AutoscalersBlocked', 'GitOpsDrift']);

function conditionsOf(findings: Findings, now: number): Condition[] {
  const { policy } = findings;
  const present = policy.status?.conditions ?? [];
  const generation = policy.metadata?.generation;
  const told = [activeCondition(findings), readyCondition(findings), ...warnings(findings)].map((condition) => {
    const before = present.find(({ type }) => type === condition.type);
    return {
      ...condition,
      lastTransitionTime: before?.status === condition.status ? before.lastTransitionTime : formatInstant(now),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    };
  });
  const stays = findings.countsAsBefore === true ? 'GitOpsDrift' : undefined;
  const isTold = new Set(told.map(({ type }) => type));
  return [...told, ...present.filter(({ type }) => !ours.has(type) || (type === stays && !isTold.has(type)))];
}

function activeCondition({ kind, state }: Findings): Told {
  return state.active
    ? { type: 'Active', status: 'True', reason: 'Activated', message: activeText(kind, state) }
    : { type: 'Active', status: 'False', reason: 'Deactivated', message: inactiveTexts[kind] };
}

function activeText(kind: PolicyKind, { until, activeWindow }: PolicyState): string {
  if (kind === 'MaintenanceWindow') {
    return `Window '${activeWindow?.name ?? ''}' is active`;
  }
  const what = kind === 'ChangeFreeze' ? 'Freeze' : 'Exception';
  return `${what} active${until === undefined ? '' : ` until ${formatInstant(until)}`}`;
}

const inactiveTexts: Readonly<Record<PolicyKind, string>> = {
  ChangeFreeze: 'Freeze not active',
  MaintenanceWindow: 'No active window',
  FreezeException: 'Exception not active',
};

function readyCondition({ kind, problems }: Findings): Told {
  const [first] = problems;
  return first === undefined
    ? { type: 'Ready', status: 'True', reason: 'Evaluated', message: `Successfully evaluated ${evaluated[kind]}` }
    : { type: 'Ready', status: 'False', reason: first.reason, message: problemText(problems) };
}

const evaluated: Readonly<Record<PolicyKind, string>> = {
  ChangeFreeze: 'freeze period',
  MaintenanceWindow: 'windows',
  FreezeException: 'exception period',
};

/** Conditions that are there only while they are true. */
function warnings({ blocksAutoscalers = false, contested = [] }: Findings): Told[] {
  const blocked: Told = {
    type: 'AutoscalersBlocked',
    status: 'True',
    reason: 'ScaleDenied',
    message: 'While this policy denies SCALE, autoscalers are refused too: exempt them with EXEMPT_AUTOSCALERS=true',
  };
  const drift: Told = {
    type: 'GitOpsDrift',
    status: 'True',
    reason: 'OwnedByApplicationSet',
    message: driftText(contested),
  };
  return [...(blocksAutoscalers ? [blocked] : []), ...(contested.length > 0 ? [drift] : [])];
}
