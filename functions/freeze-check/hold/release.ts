import type { Context } from '../../../lib/function/define.ts';
import type { Config } from '../config.ts';
import { act } from './act.ts';
import { allKinds } from './kinds.ts';
import { decideHold } from './plan.ts';
import { readHeld } from './sources.ts';

/** Lets go of every object that is held, of whatever kind and by whichever policy, and gives back what was there. */
export async function release({ kube }: Context<Config>): Promise<readonly string[]> {
  const decisions = await Promise.all(
    allKinds.map(async (kind) => {
      const held = await readHeld(kube, kind, {}, false);
      return held.flatMap((object) => decideHold(kind, object, []) ?? []);
    }),
  );
  const done = await act(kube, decisions.flat());
  return done.flatMap(({ failure }) => failure?.message ?? []);
}
