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
