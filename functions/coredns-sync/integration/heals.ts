import { digest } from '../../../lib/base/digest.ts';
import type { Component, IntegrationStep } from './types.ts';
import type { State } from '../state/state.ts';

const hourMs = 3_600_000;

/** What the steps make of the budget of repairs. */
export interface Heals {
  /** As the state should say once the steps are done. */
  readonly state: Pick<State, 'heals' | 'placed'>;
  /** Parts that somebody else keeps undoing. */
  readonly contended: readonly Component[];
  /** Parts that somebody undid and that are mended now. */
  readonly counted: readonly Component[];
}

/**
 * What was done before and must be done again in exactly the same way was undone by somebody: that is mended so often within
 * an hour, and then left, since fighting another manager would roll out DNS for ever. A step of other content follows a change
 * of hosts, settings or the Corefile, and counts for nothing.
 */
export function healsAfter(
  { heals, placed }: Pick<State, 'heals' | 'placed'>,
  steps: readonly IntegrationStep[],
  { now, most }: { readonly now: Date; readonly most: number },
): Heals {
  const due = [...Map.groupBy(steps, ({ component }) => component)].map(([component, parts]) => ({
    component,
    digest: digestOf(parts),
    recent: (heals[component] ?? []).filter((at) => now.getTime() - Date.parse(at) < hourMs),
  }));
  const undone = due.filter(({ component, digest }) => placed[component] === digest);
  const contended = undone.filter(({ recent }) => recent.length >= most);
  const counted = undone.filter((part) => !contended.includes(part));
  const doing = due.filter((part) => !contended.includes(part));
  return {
    state: {
      heals: {
        ...heals,
        ...Object.fromEntries(counted.map(({ component, recent }) => [component, [...recent, now.toISOString()]])),
      },
      placed: { ...placed, ...Object.fromEntries(doing.map(({ component, digest }) => [component, digest])) },
    },
    contended: contended.map(({ component }) => component),
    counted: counted.map(({ component }) => component),
  };
}

/** The budget without parts whose steps came to nothing: nobody was fought over them. */
export function withoutFailed(
  after: Pick<State, 'heals' | 'placed'>,
  before: Pick<State, 'heals' | 'placed'>,
  failed: readonly string[],
): Pick<State, 'heals' | 'placed'> {
  function restored<T>(now: Readonly<Record<string, T>>, then: Readonly<Record<string, T>>): Record<string, T> {
    return Object.fromEntries(
      Object.entries(now).flatMap(([part, value]) => {
        const old = then[part];
        return failed.includes(part) ? (old === undefined ? [] : [[part, old]]) : [[part, value]];
      }),
    );
  }
  return { heals: restored(after.heals, before.heals), placed: restored(after.placed, before.placed) };
}

/** Of what the steps do; the version that they rest on is another each time. */
function digestOf(steps: readonly IntegrationStep[]): string {
  const content = JSON.stringify(
    steps.map(
      ({ step, adds }) => adds ?? (step.do === 'patch' ? step.operations.filter(({ op }) => op !== 'test') : step),
    ),
  );
  return digest(content, 12);
}
