import type { Context } from '../../../lib/function/define.ts';
import { asFailure } from '../../../lib/function/failure.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import type { Config } from '../config.ts';
import { act } from './act.ts';
import type { HeldKind } from './kind.ts';
import { allKinds } from './kinds.ts';
import { decideHold, type Decision } from './plan.ts';
import { readHeld } from './sources.ts';

/**
 * Lets go of every object that is held, of whatever kind and by whichever policy, and gives back what was there. A kind that can't be
 * read keeps no other held; returned is what remains.
 */
export async function release({ kube }: Context<Config>): Promise<readonly string[]> {
  const unread: string[] = [];
  const decisions = await Promise.all(
    allKinds.map((kind) =>
      decideRelease(kube, kind).catch((error: unknown) => {
        unread.push(asFailure(error).message);
        return [];
      }),
    ),
  );
  const done = await act(kube, decisions.flat());
  return [...unread, ...done.flatMap(({ failure }) => failure?.message ?? [])];
}

async function decideRelease(kube: Kube, kind: HeldKind): Promise<readonly Decision[]> {
  const held = await readHeld(kube, kind, {}, false);
  return held.flatMap((object) => decideHold(kind, object, []) ?? []);
}
