import { describe, expect, it } from '@jest/globals';
import { decode, encode, partsOf, type Encoded } from './codec.ts';
import { emptyState, type Candidate, type InFlight, type State } from './state.ts';

function candidates(count: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, index): Candidate => ({
    kind: 'Deployment',
    namespace: `team-${index % 50}`,
    name: `web-${index}`,
    uid: `3f0b7a52-0000-4000-8000-${String(index).padStart(12, '0')}`,
    reason: 'image',
    priority: 0,
    isGateway: false,
    fingerprint: 'f'.repeat(64),
  }));
}

function stateWith(count: number): State {
  return { ...emptyState, queue: { configFingerprint: 'c', items: candidates(count) } };
}

function namesIn({ queue }: State): readonly string[] {
  return queue.items.map(({ name }) => name).sort();
}

describe('a queue that no ConfigMap could hold', () => {
  const whole = encode(stateWith(5_000));

  it('goes on in further ones, each below what the API server takes', () => {
    const { data, parts } = whole;
    const sizes = [Object.values(data).join('').length, ...parts.map(({ length }) => length)];

    expect(parts.length).toBeGreaterThan(0);
    expect(partsOf(data)).toBe(parts.length);
    expect(Math.max(...sizes)).toBeLessThan(900 * 1024);
    expect(namesIn(decode(whole))).toEqual(namesIn(stateWith(5_000)));
  });

  it('changes in one ConfigMap only when a candidate goes', () => {
    const read = decode(whole);
    const last = read.queue.items.at(-1);

    const next = encode({ ...read, queue: { ...read.queue, items: read.queue.items.filter((each) => each !== last) } });

    expect(next.data['queue']).toBe(whole.data['queue']);
    expect(next.parts.filter((part, index) => part !== whole.parts[index])).toHaveLength(1);
  });

  it('does without parts that are gone', () => {
    const { queue } = decode({ data: whole.data, parts: [''] });

    expect(queue.items.length).toBeGreaterThan(0);
    expect(queue.items.length).toBeLessThan(5_000);
  });
});

/** As long as the API server lets names be. */
function longName(prefix: string, index: number, length: number): string {
  return `${prefix}-${index}-`.padEnd(length, 'x');
}

function sizesOf({ data, parts }: Encoded): readonly number[] {
  return [Object.values(data).join('').length, ...parts.map(({ length }) => length)];
}

describe('a state with more than a ConfigMap holds', () => {
  it('leaves the queue no more than the rest has room for, also where it was there before', () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, index) => [`team-${index}`, { hash: 'f'.repeat(16), changedAt: 1.8e12 }]),
    );
    const blocked = candidates(1_000).map((each) => ({ ...each, reason: 'UnknownRevision' }));
    const before = decode(encode(stateWith(20_000)));

    const after = encode({ ...before, namespaces, blocked });

    expect(Math.max(...sizesOf(after))).toBeLessThan(900 * 1024);
    expect(namesIn(decode(after))).toEqual(namesIn(before));
    expect(decode(after)).toMatchObject({ namespaces, blocked, omitted: {} });
  });

  it('does without some of what only spares probes', () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 7_000 }, (_, index) => [`some-team-${index}`, { hash: 'f'.repeat(16), changedAt: 1.8e12 }]),
    );
    const verified = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(16, '0'));

    const whole = encode({ ...stateWith(2_000), namespaces, verified });

    const { verified: kept, namespaces: known, omitted } = decode(whole);
    expect(Math.max(...sizesOf(whole))).toBeLessThan(900 * 1024);
    expect(kept.length).toBeLessThan(verified.length);
    expect(known).toEqual(namespaces);
    expect(omitted).toEqual({ verified: verified.length - kept.length });
  });

  describe('of 10,000 namespaces, 1,000 blocked and 30,000 queued workloads with the longest names', () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [
        longName('team', index, 63),
        { hash: 'f'.repeat(16), changedAt: 1.8e12 + (index % 100) },
      ]),
    );
    const items = candidates(30_000).map((each, index) => ({
      ...each,
      namespace: longName('team', index % 10_000, 63),
      name: longName('web', index, 253),
    }));
    const inflight = items.slice(0, 100).map((each): InFlight => ({
      ...each,
      ...{ fingerprint: 'f'.repeat(64), by: 'me', attempt: 1, intentAt: 1.8e12, deadline: 1.8e12, pods: 1 },
      phase: 'Patched',
    }));
    const blocked = items.slice(100, 1_100).map((each) => ({ ...each, reason: 'UnknownRevision', attempts: 1 }));
    const found = items
      .slice(0, 2_000)
      .map((each) => ({ ...each, uid: `${each.uid}-found`, reason: 'UnknownRevision' }));
    const verified = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(16, '0'));
    const queue = { configFingerprint: 'c', items: items.slice(1_100) };
    const state: State = { ...emptyState, namespaces, inflight, blocked, queue, verified };
    const whole = encode(state);
    const read = decode(whole);

    it('no ConfigMap grows beyond what the API server takes, and nothing that is under way is lost', () => {
      expect(Math.max(...sizesOf(whole))).toBeLessThan(900 * 1024);
      expect(read).toMatchObject({ inflight, blocked });
    });

    it('what was tried is remembered before what a scan would find again', () => {
      const { blocked: kept, omitted } = decode(encode({ ...state, blocked: [...found, ...blocked] }));

      expect(kept.slice(0, blocked.length)).toEqual(blocked);
      expect(omitted.blocked).toBe(found.length + blocked.length - kept.length);
    });

    it('tells how much is left out, and does without the namespaces that have not changed for longest', () => {
      const known = Object.keys(read.namespaces);
      const oldestKnown = Math.min(...Object.values(read.namespaces).map(({ changedAt }) => changedAt));
      const lost = Object.entries(namespaces).filter(([name]) => read.namespaces[name] === undefined);

      expect(read.omitted).toEqual({
        namespaces: lost.length,
        queue: queue.items.length - read.queue.items.length,
        verified: verified.length - read.verified.length,
      });
      expect(Math.min(known.length, lost.length, read.queue.items.length)).toBeGreaterThan(1_000);
      expect(Math.max(...lost.map(([, { changedAt }]) => changedAt))).toBeLessThanOrEqual(oldestKnown);
    });

    it('is written as it was when nothing changes', () => {
      expect(encode(read).data).toEqual(whole.data);
      expect(encode(whole.state).data).toEqual(whole.data);
    });
  });
});
