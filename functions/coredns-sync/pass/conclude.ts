import type { Context } from '../../../lib/function/definition.ts';
import type { Config } from '../config.ts';
import { passConditions } from '../integration/integrate.ts';
import { isYoung, passMemory, startFrom } from '../state/memory.ts';
import { showConditions } from '../metrics.ts';
import { sorted, type Decision } from './decision.ts';
import { startingOver } from './retry.ts';
import {
  differing,
  obstructed,
  readState,
  writeState,
  type Layout,
  type ReadState,
  type Summary,
} from '../state/state.ts';

/** Figures of a pass that had nothing else to write, and those that they replace. */
export interface News {
  readonly was: Summary;
  readonly is: Summary;
}

type Decided = Partial<Decision> & {
  readonly conditions: Decision['conditions'];
  /** Were rules or records written? */
  readonly wrote: boolean;
};

/** The state after a pass: what it decided, and no more marks of processes that died owing what is done now. */
export async function conclude(
  context: Context<Config>,
  before: ReadState,
  { conditions, wrote, ...decided }: Decided,
): Promise<News | undefined> {
  const state = await readState(context);
  const kept = Object.entries(state.conditions).filter(([type]) => !passConditions.includes(type));
  const merged = sorted({ ...Object.fromEntries(kept), ...conditions });
  const now = context.kube.serverTime() ?? context.now();
  const owed = Object.entries(state.owed).filter(([, at]) => isYoung(at, now));
  const layout = decided.writes === true ? decided.layout : layoutIn(state);
  const changes = {
    ...(layout === undefined ? {} : { layout }),
    conditions: merged,
    owed: Object.fromEntries(owed),
    ...('removal' in decided ? { removal: decided.removal } : {}),
  };
  const summary = decided.summary ?? state.summary;
  const rides = wrote || differing(state, changes).length > 0;
  await writeState(context, state, rides ? { ...changes, summary } : changes);
  showConditions(context, before.conditions, merged);
  const memory = context.memory(passMemory);
  memory.obstructed = obstructed(merged);
  startFrom(memory, memory.obstructed ? undefined : layout);
  return rides ? undefined : newsIn(state, summary);
}

/** Without one there is none to confirm: rules may be wherever they ever could. */
function layoutIn({ known, layout }: ReadState): Layout | undefined {
  return known ? layout : undefined;
}

function newsIn(state: ReadState, summary: Summary): News | undefined {
  return differing(state, { summary }).length === 0 ? undefined : { was: state.summary, is: summary };
}

/** Behind the pass: the report of a pass that repaired nothing must not look like a repair. Newer figures stay. */
export function refreshSummary(context: Context<Config>, { was, is }: News): void {
  context.later('summary', context.now(), (later) =>
    startingOver(later, async () => {
      const state = await readState(later);
      if (state.known && !state.cleaning && differing(state, { summary: was }).length === 0) {
        await writeState(later, state, { summary: is });
      }
    }),
  );
}
