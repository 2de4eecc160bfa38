import { describe, expect, it } from '@jest/globals';
import { Failure, type FailureKind } from '../base/failure.ts';
import type { Step } from './model/plan.ts';
import { configMaps } from './model/resource.ts';
import { failuresOf, runEach } from './run-each.ts';

const steps = Array.from({ length: 20 }, (_, index): Step => {
  const name = `map-${index}`;
  return { do: 'delete', resource: configMaps, name, namespace: 'shop', uid: name, why: 'a test' };
});

/** A client on which the steps with these names fail. */
function failingFor(kinds: Readonly<Record<string, FailureKind>>): {
  readonly done: string[];
  readonly kube: Parameters<typeof runEach>[0];
} {
  const done: string[] = [];
  return {
    done,
    kube: {
      run: ({ steps: [step] }) => {
        const name = step !== undefined && 'name' in step ? step.name : '';
        const kind = kinds[name];
        if (kind !== undefined) {
          return Promise.reject(new Failure(kind, `could not delete ${name}`, { retryAfter: 3 }));
        }
        done.push(name);
        return Promise.resolve([]);
      },
    },
  };
}

describe('steps that do not depend on each other', () => {
  it('are all run, whichever of them fail, and their failures returned', async () => {
    const { kube, done } = failingFor({ 'map-0': 'impossible', 'map-7': 'bug' });

    const failures = await failuresOf(kube, steps);

    expect(failures.map(({ message }) => message)).toEqual(['could not delete map-0', 'could not delete map-7']);
    expect(done).toHaveLength(18);
  });

  it('throw nothing when none fails', async () => {
    await expect(runEach(failingFor({}).kube, steps)).resolves.toBeUndefined();
  });

  it.each<[Record<string, FailureKind>, FailureKind, string]>([
    [{ 'map-3': 'impossible' }, 'impossible', 'could not delete map-3'],
    [{ 'map-3': 'impossible', 'map-9': 'conflict' }, 'conflict', 'could not delete map-9 (and 1 more of 20 steps)'],
    [{ 'map-3': 'bug', 'map-9': 'unavailable' }, 'unavailable', 'could not delete map-9 (and 1 more of 20 steps)'],
  ])('with %j throw a failure of kind %s once all have ended: %s', async (kinds, kind, message) => {
    const { kube, done } = failingFor(kinds);

    await expect(runEach(kube, steps)).rejects.toMatchObject({ kind, message, retryAfter: 3 });
    expect(done).toHaveLength(20 - Object.keys(kinds).length);
  });
});
