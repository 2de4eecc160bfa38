import type { Context } from '../../../lib/function/definition.ts';
import type { Config } from '../config.ts';
import { act } from './act.ts';
import { allKinds } from './kinds.ts';
import { recall } from './ledger.ts';
import { decideHold } from './plan.ts';
import { readHeld } from './sources.ts';

/**
 * Lets go of every object that is held, of whatever kind and by whichever policy, and gives back what was there. A kind
 * that can't be read keeps no other held; returned is what remains.
 */
export async function release(context: Context<Config>): Promise<readonly string[]> {
  const found = await readHeld(context, allKinds, { place: {}, isAsked: () => false });
  const { candidates, unread, ledger } = found;
  const decisions = candidates.flatMap(({ kind, objects }) =>
    objects.flatMap((object) => decideHold(kind, object, [], recall(ledger, object)) ?? []),
  );
  const { done, failure } = await act(context, decisions, found);
  return [...unread, ...done, { failure }].flatMap((each) => each.failure?.message ?? []);
}
