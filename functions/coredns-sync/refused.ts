import type { Context } from '../../lib/function/definition.ts';
import { Failure } from '../../lib/base/failure.ts';
import { Refusal } from '../../lib/kube/refusal.ts';
import type { Config } from './config.ts';
import { showConditions } from './metrics.ts';
import { sorted } from './pass/decision.ts';
import { readState, writeState, type Conditions } from './state/state.ts';

/** Seconds: what the API server refuses for a reason of its own, somebody has to change there. */
const retryAfter = 60;

/** Writes rules. Where they are refused, the state says why, and the sender of the event is told to come back much later. */
export async function writingRules(context: Context<Config>, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const condition = conditionOf(error);
    if (condition === undefined) {
      throw error;
    }
    await raise(context, condition);
    const [message = ''] = Object.values(condition);
    throw new Failure('unavailable', message, { cause: error, retryAfter });
  }
}

/** Undefined for what a repetition may settle. */
function conditionOf(error: unknown): Conditions | undefined {
  const message = refusedMessage(error);
  if (message === undefined || !(error instanceof Refusal)) {
    return undefined;
  }
  if (error.code === 404) {
    return { NamespaceMissing: `${message}; COREDNS_NAMESPACE says where CoreDNS runs` };
  }
  return isTooLarge(error) ? { Full: `${message}; the last good rules stay` } : { RulesRefused: message };
}

/** The whole ConfigMap, keys of others included; policies refuse with the same code. */
function isTooLarge({ code, message }: Refusal): boolean {
  return code === 413 || (code === 422 && message.includes('Too long'));
}

/** What is refused for good, as far as the API server knows: a right, a policy, an object that can't be stored. */
export function refusedMessage(error: unknown): string | undefined {
  return error instanceof Refusal && (error.code === 403 || error.kind === 'impossible') ? error.message : undefined;
}

/** Adds to the conditions; whoever decides about them takes them away again. */
export async function raise(context: Context<Config>, conditions: Conditions): Promise<void> {
  const state = await readState(context);
  const raised = sorted({ ...state.conditions, ...conditions });
  await writeState(context, state, { conditions: raised });
  showConditions(context, state.conditions, raised);
}
