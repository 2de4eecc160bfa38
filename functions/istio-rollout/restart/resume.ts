import type { Config } from '../config.ts';
import type { Pass } from '../pass.ts';
import { configFingerprint } from '../state/pending.ts';
import type { State } from '../state/state.ts';

/** Goes on with a paused run when it may, or on command. */
export async function resumeIfPossible({ context, store, config }: Pass): Promise<void> {
  const { paused } = store.state().pacing;
  const { pacing } = await store.update(
    (state) => resumed(state, { config, isAsked: isAsked() }),
    isAsked() ? ['resume'] : [],
  );
  if (paused !== undefined && pacing.paused === undefined) {
    context.log.info({ paused: paused.reason }, 'run resumed');
  }

  function isAsked(): boolean {
    return store.asked().resume !== undefined;
  }
}

/** The state without its pause, where what failed has recovered, the configuration is another, or somebody asks for it. */
export function resumed(
  state: State,
  { config, isAsked }: { readonly config: Config; readonly isAsked: boolean },
): State {
  const { paused, ...pacing } = state.pacing;
  if (paused === undefined) {
    return state;
  }
  const unsettled = new Set(state.inflight.filter(({ phase }) => phase === 'Failed').map(({ uid }) => uid));
  const isOver = pacing.failed.every(({ uid }) => !unsettled.has(uid));
  const isOther = paused.configFingerprint !== configFingerprint(state, config);
  return isAsked || isOver || isOther ? { ...state, pacing: { ...pacing, failed: [] } } : state;
}
