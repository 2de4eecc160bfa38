import type { Identity } from '../state/state.ts';

const patienceMs = 5_000;
const askAgainMs = 60_000;

/** After so many questions in a row without an answer the next would only cost time. */
const patience = 3;

interface Circumstances {
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Why there was no answer. */
  readonly onTrouble: (error: unknown) => void;
}

/** Until when the rollout of a workload may not begin; undefined where it may. */
export type FreezeCheck = (workload: Omit<Identity, 'uid'>) => Promise<number | undefined>;

/**
 * Asks whether a rollout may begin, in the manner of freeze-check's query API: `{"allow": true}` means yes. Anything else,
 * an answer that does not come included, is a no until the time that it names, or for a minute.
 */
export function createFreezeCheck(url: string, { signal, now, onTrouble }: Circumstances): FreezeCheck {
  let unanswered = 0;

  async function ask(workload: Omit<Identity, 'uid'>): Promise<Answer> {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const answer = await readAnswer(questionOf(url, workload), limit);
      unanswered = 0;
      return answer;
    } catch (error) {
      unanswered += 1;
      onTrouble(error);
      return {};
    }
  }

  return async (workload) => {
    const { allow, nextAllowedTime } = unanswered < patience ? await ask(workload) : {};
    if (allow === true) {
      return undefined;
    }
    const next = typeof nextAllowedTime === 'string' ? Date.parse(nextAllowedTime) : Number.NaN;
    return next > now() ? next : now() + askAgainMs;
  };
}

function questionOf(url: string, { kind, namespace, name }: Omit<Identity, 'uid'>): URL {
  const question = new URL(url);
  for (const [key, value] of Object.entries({ namespace, kind, name, action: 'ROLL_OUT' })) {
    question.searchParams.set(key, value);
  }
  return question;
}

interface Answer {
  readonly allow?: unknown;
  readonly nextAllowedTime?: unknown;
}

async function readAnswer(url: URL, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(url, { signal, redirect: 'error' });
  if (!response.ok) {
    throw new Error(`answered with status ${response.status}`);
  }
  const body: unknown = await response.json();
  return typeof body === 'object' && body !== null ? body : {};
}
