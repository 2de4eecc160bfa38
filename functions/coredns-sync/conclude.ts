import type { Context } from '../../lib/function/define.ts';
import type { Config } from './config.ts';
import { passConditions } from './integrate.ts';
import { memoryOf, orphanedAfterMs } from './memory.ts';
import { showConditions } from './metrics.ts';
import { sorted, type Decision } from './pass.ts';
import { obstructed, readState, writeState, type Layout, type ReadState } from './state.ts';

/** The state after a pass: what it decided, and no more marks of processes that died owing what is done now. */
export async function conclude(
  context: Context<Config>,
  before: ReadState,
  { conditions, ...decided }: Pick<Decision, 'conditions'> & Partial<Decision>,
): Promise<void> {
  const state = await readState(context);
  const kept = Object.entries(state.conditions).filter(([type]) => !passConditions.includes(type));
  const merged = sorted({ ...Object.fromEntries(kept), ...conditions });
  const now = (context.kube.serverTime() ?? context.now()).getTime();
  const owed = Object.entries(state.owed).filter(([, at]) => now - Date.parse(at) < orphanedAfterMs);
  const layout: Layout = decided.writes === true && decided.layout !== undefined ? decided.layout : state.layout;
  const changes = {
    layout,
    conditions: merged,
    owed: Object.fromEntries(owed),
    ...('removal' in decided ? { removal: decided.removal } : {}),
  };
  await writeState(context, state, changes);
  showConditions(context, before.conditions, merged);
  memoryOf(context).known = obstructed(merged) ? undefined : layout;
  if (decided.summary !== undefined) {
    refreshSummary(context, state, decided.summary);
  }
}

/** Behind the pass: the report of a pass that repaired nothing must not look like a repair. */
function refreshSummary(context: Context<Config>, state: ReadState, summary: Decision['summary']): void {
  if (JSON.stringify(state.summary) !== JSON.stringify(summary)) {
    context.later('summary', context.now(), async (later) => writeState(later, await readState(later), { summary }));
  }
}
