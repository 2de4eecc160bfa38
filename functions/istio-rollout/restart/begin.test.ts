import { describe, expect, it } from '@jest/globals';
import { emptyState, type Candidate, type InFlight, type State } from '../state/state.ts';
import { identity, intent, underWay } from '../testing/under-way.ts';
import { abandoned, patched, putAllAside, putAside } from './begin.ts';

const candidate: Candidate = { ...identity, reason: 'image', priority: 0, isGateway: false, fingerprint: 'f' };

describe('a candidate that is put aside', () => {
  it.each([{ drop: true } as const, { wait: { code: 'RolloutInProgress' } } as const])(
    'leaves the restart that another instance began: %j',
    (aside) => {
      expect(putAside(underWay, candidate, aside)).toBe(underWay);
    },
  );

  it('waits in the queue once its own intent came to nothing', () => {
    const { inflight, queue } = putAside(abandoned(underWay, intent), candidate, { wait: { code: 'PDB' } });

    expect(inflight).toEqual([]);
    expect(queue.items).toEqual([{ ...candidate, wait: { code: 'PDB' } }]);
  });
});

describe('what a pass puts aside', () => {
  const asides = new Map([[candidate, { drop: true } as const]]);
  const queue = { configFingerprint: 'old', items: [candidate] };

  it('leaves what a later scan of another mesh has found', () => {
    const later: State = { ...emptyState, queue: { configFingerprint: 'new', items: [candidate] } };

    expect(putAllAside(later, asides, 'old')).toBe(later);
    expect(putAllAside({ ...emptyState, queue }, asides, 'old').queue.items).toEqual([]);
  });
});

describe('a patch that was made', () => {
  const candidates = { configFingerprint: '', items: [candidate] };

  it('counts as under way although somebody took its intent for lost', () => {
    const { inflight, queue } = patched({ ...emptyState, queue: candidates }, { ...intent, phase: 'Intent' }, 5);

    expect(inflight).toEqual([intent]);
    expect(queue.items).toEqual([]);
  });

  it('takes the place of an intent of somebody else, whose patch must fail now', () => {
    const theirs: InFlight = { ...intent, by: 'two', phase: 'Intent' };

    expect(patched({ ...emptyState, inflight: [theirs] }, intent, 5).inflight).toEqual([intent]);
  });

  it('leaves a restart alone that somebody made since', () => {
    const theirs: State = { ...emptyState, inflight: [{ ...intent, by: 'two' }] };

    expect(patched(theirs, intent, 5)).toBe(theirs);
  });
});
