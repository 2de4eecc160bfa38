import { describe, expect, it } from '@jest/globals';
import { withTrigger } from '../state/pending.ts';
import { emptyState, type Blocked, type Candidate, type Pending, type State } from '../state/state.ts';
import { config, scanOf } from '../testing/scan.ts';
import type { Code } from './code.ts';
import { mergeScan } from './merge.ts';
import type { Scan } from './scan.ts';
import { workloadOf } from './workload.ts';

const scan: Scan = { ...scanOf([]), namespaces: ['shop'] };

function triggered(at: number): State {
  return withTrigger(emptyState, { reasons: ['ConfigMap'], delayMs: 0 }, at, config);
}

function pendingOf({ pending }: State): Pending {
  if (pending === undefined) {
    throw new Error('nothing is pending');
  }
  return pending;
}

describe('a scan that two instances made at once', () => {
  it('keeps the trigger that came after the first of them had ended', () => {
    const scanned = pendingOf(triggered(1));
    const later = triggered(2); // the first instance is done, and something else has happened

    expect(mergeScan(later, { scan, pending: scanned, now: 3, wasLost: false }).pending).toEqual(pendingOf(later));
    expect(mergeScan(triggered(1), { scan, pending: scanned, now: 3, wasLost: false }).pending).toBeUndefined();
  });
});

describe('what is left alone', () => {
  it('never outgrows the state; what only the state knows goes last', () => {
    const blocked = Array.from({ length: 3_000 }, (_, index): Blocked => ({
      kind: 'Deployment',
      namespace: 'elsewhere',
      name: `web-${index}`,
      uid: `u-${index}`,
      reason: 'UnknownRevision',
      ...(index === 2_999 && { attempts: 2 }),
    }));

    const after = mergeScan(
      { ...emptyState, blocked },
      { scan, pending: pendingOf(triggered(1)), now: 3, wasLost: false },
    );

    expect(after.blocked).toHaveLength(1_000);
    expect(after.blocked).toContainEqual(blocked[2_999]);
  });
});

describe('a scan that cannot tell about a workload', () => {
  const identity = { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u-1' } as const;
  const standing = { priority: 0, isGateway: false, attempts: 1, fingerprint: 'f' };
  const workload = workloadOf('Deployment', { metadata: { namespace: 'shop', name: 'web', uid: 'u-1' } });

  function after(before: State, code: Code): State {
    const findings =
      workload === undefined ? [] : [{ staffed: { workload, current: [], older: [] }, verdict: { code } }];
    const pending = pendingOf(triggered(1));
    return mergeScan(before, { scan: { ...scan, findings }, pending, now: 3, wasLost: false });
  }

  it.each(['ProbeFailed', 'RolloutInProgress'] as const)('forgets no try: %s', (code) => {
    const queued: Candidate = { ...identity, ...standing, reason: 'image' };
    const blocked: Blocked = { ...identity, ...standing, reason: 'Ineffective' };

    const queue = { configFingerprint: '', items: [queued] };
    expect(after({ ...emptyState, queue }, code).queue.items).toMatchObject([{ ...identity, ...standing }]);
    expect(after({ ...emptyState, blocked: [blocked] }, code)).toMatchObject({
      blocked: [blocked],
      queue: { items: [] },
    });
  });

  it.each([true, false])('counts late answers of istiod on their own: %s', (isLate) => {
    const findings =
      workload === undefined
        ? []
        : [{ staffed: { workload, current: [], older: [] }, verdict: { code: 'ProbeFailed' as const } }];
    const pending = pendingOf(triggered(1));
    const next = mergeScan(triggered(1), { scan: { ...scan, findings, isLate }, pending, now: 3, wasLost: false });

    expect(next.pending).toMatchObject({ attempts: 1, late: isLate ? 1 : 0 });
  });
});
