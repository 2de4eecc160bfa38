import type { Identity } from '../state/state.ts';

const patienceMs = 5_000;
const askAgainMs = 60_000;

interface Circumstances {
  readonly signal: AbortSignal;
  readonly now: number;
  /** Why there was no answer. */
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Asks whether a rollout may begin, in the manner of freeze-check's query API: `{"allow": true}` means yes. Anything else,
 * an answer that does not come included, is a no until the time that it names, or for a minute.
 */
export async function frozenUntil(
  url: string,
  { kind, namespace, name }: Omit<Identity, 'uid'>,
  { signal, now, onTrouble }: Circumstances,
): Promise<number | undefined> {
  const asked = new URL(url);
  for (const [key, value] of Object.entries({ namespace, kind, name, action: 'ROLL_OUT' })) {
    asked.searchParams.set(key, value);
  }
  const answer = await readAnswer(asked, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])).catch(
    (error: unknown): Answer => {
      onTrouble(error);
      return {};
    },
  );
  if (answer.allow === true) {
    return undefined;
  }
  const next = typeof answer.nextAllowedTime === 'string' ? Date.parse(answer.nextAllowedTime) : Number.NaN;
  return next > now ? next : now + askAgainMs;
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
