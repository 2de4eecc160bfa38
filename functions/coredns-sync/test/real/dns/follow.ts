import type { DnsClient } from './client.ts';
import { observed } from './model.ts';

/** Asks for names again and again while something else happens. */
export interface Following extends AsyncDisposable {
  /** Ends it: how many answers there were, and every one that was not as it should be. */
  stop(): Promise<{ readonly answers: number; readonly wrong: readonly string[] }>;
}

/** What each name must be answered with, at every moment. */
export function followAnswers(dns: DnsClient, wanted: Readonly<Record<string, string>>): Following {
  let going = true;
  let answers = 0;
  const wrong: string[] = [];
  async function ask(): Promise<void> {
    while (going) {
      for (const [name, want] of Object.entries(wanted)) {
        const got = await dns.ask(name, 'A').then(
          (answer) => observed(answer, name, 'A'),
          (error: unknown) => String(error),
        );
        answers += 1;
        if (got !== want) {
          wrong.push(`${name}: ${got}`);
        }
      }
    }
  }
  const done = ask();
  async function stop(): Promise<{ answers: number; wrong: readonly string[] }> {
    going = false;
    await done;
    return { answers, wrong };
  }
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
