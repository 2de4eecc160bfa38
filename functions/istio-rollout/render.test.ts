import { describe, expect, it } from '@jest/globals';
import { renderStatus } from './render.ts';
import { withRestarts, type Rows } from './rows.ts';
import { emptyState, type State } from './state/state.ts';
import { identity, underWay } from './testing/under-way.ts';

const found: Rows = { rows: [{ ...identity, code: 'RolloutInProgress' }], omitted: 0 };

function codesOf(state: State, rows: Rows): readonly string[] {
  return renderStatus(state, rows).workloads.map(({ code }) => code);
}

describe('the status of a workload that was amid a rollout when it was scanned', () => {
  it('is Restarted only after a restart of ours', () => {
    const restarted = withRestarts(found, underWay);

    expect(codesOf(underWay, restarted)).toEqual(['InFlight']);
    expect(codesOf(emptyState, restarted)).toEqual(['Restarted']);
    expect(codesOf(emptyState, withRestarts(found, emptyState))).toEqual(['RolloutInProgress']);
  });

  it('counts as outdated and queued only once it was judged so', () => {
    const candidate = { ...identity, priority: 0, isGateway: false, reason: 'RolloutInProgress' };
    const counts = [candidate, { ...candidate, fingerprint: 'f' }].map(
      (item) => renderStatus({ ...emptyState, queue: { configFingerprint: '', items: [item] } }, found).counts,
    );

    expect(counts).toMatchObject([
      { outdated: 0, queued: 0 },
      { outdated: 1, queued: 1 },
    ]);
  });
});
