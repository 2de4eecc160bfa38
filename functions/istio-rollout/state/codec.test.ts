import { describe, expect, it } from '@jest/globals';
import { decode, encode, partsOf } from './codec.ts';
import { emptyState, type Candidate, type State } from './state.ts';

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

describe('a state with more than a ConfigMap holds', () => {
  it('leaves the queue no more than the rest has room for, also where it was there before', () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`team-${index}`, { hash: 'f'.repeat(16), changedAt: 1.8e12 }]),
    );
    const blocked = candidates(1_000).map((each) => ({ ...each, reason: 'UnknownRevision' }));
    const before = decode(encode(stateWith(20_000)));

    const after = encode({ ...before, namespaces, blocked });

    const sizes = [Object.values(after.data).join('').length, ...after.parts.map(({ length }) => length)];
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
    expect(namesIn(decode(after))).toEqual(namesIn(before));
    expect(decode(after)).toMatchObject({ namespaces, blocked });
  });

  it('does without some of what only spares probes', () => {
    const namespaces = Object.fromEntries(
      Array.from({ length: 7_000 }, (_, index) => [`some-team-${index}`, { hash: 'f'.repeat(16), changedAt: 1.8e12 }]),
    );
    const verified = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(16, '0'));

    const { data } = encode({ ...stateWith(2_000), namespaces, verified });

    const { verified: kept, namespaces: known } = decode({ data, parts: [] });
    expect(Object.values(data).join('').length).toBeLessThan(1_000_000);
    expect(kept.length).toBeLessThan(verified.length);
    expect(known).toEqual(namespaces);
  });
});
