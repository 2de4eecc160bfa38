import type { Identity } from '../state/state.ts';

const patienceMs = 5_000;
const askAgainMs = 60_000;

/**
 * Asks whether a rollout may begin, in the manner of freeze-check's query API: `{"allow": true}` means yes. Anything else,
 * an answer that does not come included, is a no until the time that it names, or for a minute.
 */
export async function frozenUntil(
  url: string,
  { kind, namespace, name }: Omit<Identity, 'uid'>,
  { signal, now }: { readonly signal: AbortSignal; readonly now: Date },
): Promise<number | undefined> {
  const asked = new URL(url);
  for (const [key, value] of Object.entries({ namespace, kind, name, action: 'ROLL_OUT' })) {
    asked.searchParams.set(key, value);
  }
  const answer = await readAnswer(asked, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
  if (answer.allow === true) {
    return undefined;
  }
  const next = typeof answer.nextAllowedTime === 'string' ? Date.parse(answer.nextAllowedTime) : Number.NaN;
  return next > now.getTime() ? next : now.getTime() + askAgainMs;
}

async function readAnswer(
  url: URL,
  signal: AbortSignal,
): Promise<{ readonly allow?: unknown; readonly nextAllowedTime?: unknown }> {
  try {
    const response = await fetch(url, { signal, redirect: 'error' });
    const body: unknown = response.ok ? await response.json() : undefined;
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
