import type { Conditions } from '../function/conditions.ts';
import type { Call } from '../kube/client.ts';
import type { MissingRight } from '../kube/refusal.ts';

/** A refusal counts for so long unless the same call is answered otherwise: its object may be gone by then. */
const lastsMs = 2 * 3_600_000;

/** More refusals than these are not remembered one by one: the rights that they name are known by then. */
const mostRefusals = 1_000;

interface Refused {
  readonly problem: string;
  readonly at: number;
}

/**
 * Maintains the condition `RightMissing`. Rights can be granted for single namespaces and objects, so a refusal stands
 * until a call with the same verb and path succeeds.
 */
export function createRightsWatch(conditions: Conditions, now: () => Date): (call: Call) => void {
  const refusals = new Map<string, Refused>();

  /** Whether the refusals changed. */
  function note({ verb, path, code, missingRight }: Call, at: number): boolean {
    const key = `${verb} ${path}`;
    if (missingRight !== undefined && refusals.size < mostRefusals) {
      refusals.set(key, { problem: describe(missingRight), at });
      return true;
    }
    const isAnswered = missingRight === undefined && code !== 0 && code < 500;
    return isAnswered && refusals.delete(key);
  }

  /** Whether any was forgotten. */
  function forget(before: number): boolean {
    const old = [...refusals].filter(([, { at }]) => at < before).map(([key]) => key);
    return old.filter((key) => refusals.delete(key)).length > 0;
  }

  return (call) => {
    if (call.missingRight === undefined && refusals.size === 0) {
      return; // as with almost every call
    }
    const at = now().getTime();
    const changed = [note(call, at), forget(at - lastsMs)];
    if (changed.includes(true)) {
      const problems = [...refusals.values()].map(({ problem }) => problem);
      conditions.set('RightMissing', [...new Set(problems)]);
    }
  };
}

function describe({ verb, resource, namespace }: MissingRight): string {
  return `could not ${verb} ${resource}${namespace === undefined ? '' : ` in namespace ${namespace}`}: forbidden`;
}
