import { emptyState, type InFlight, type State } from '../state/state.ts';

export const identity = { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u-1' } as const;

/** A restart whose patch was made. */
export const intent: InFlight = {
  ...identity,
  priority: 0,
  isGateway: false,
  fingerprint: 'f',
  by: 'one',
  attempt: 1,
  intentAt: 0,
  deadline: 1,
  pods: 1,
  phase: 'Patched',
};

export const underWay: State = { ...emptyState, inflight: [intent] };
