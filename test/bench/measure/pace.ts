import https from 'node:https';
import { send } from '../../support/http.ts';
import type { Started } from './program.ts';

/** How a program fared with a round of reviews. */
export interface Pace {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** Milliseconds from sending to the whole answer. */
  readonly p50: number;
  readonly p99: number;
}

export interface Round {
  readonly path: string;
  readonly body: string;
  readonly reviews: number;
  readonly connections: number;
  readonly ca: Buffer;
  /** The name that the certificate is for. */
  readonly host: string;
}

/** Sends a round of reviews over kept connections. */
export async function pace(program: Started, { reviews, connections, ca, host, ...sent }: Round): Promise<Pace> {
  const agent = new https.Agent({ ca, servername: host, keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let left = reviews;
  async function sender(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      await review(program, { ...sent, agent });
      times.push(performance.now() - started);
    }
  }
  const before = await program.usage();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, sender));
  const seconds = (performance.now() - started) / 1000;
  const after = await program.usage();
  agent.destroy();
  const sorted = times.toSorted((one, other) => one - other);
  return {
    perSecond: reviews / seconds,
    cpuMicros: ((after.cpuMs - before.cpuMs) * 1000) / reviews,
    p50: sorted[Math.floor(reviews / 2)] ?? Number.NaN,
    p99: sorted[Math.floor(reviews * 0.99)] ?? Number.NaN,
  };
}

/** One review; the answer as text. */
export async function review(
  { urls }: Started,
  { path, body, agent }: Pick<Round, 'path' | 'body'> & { readonly agent: https.Agent },
): Promise<string> {
  const url = urls.at(-1) ?? missing();
  const answer = await send(url, { path, headers: { 'content-type': 'application/json' }, body, agent });
  if (answer.status !== 200) {
    throw new Error(`${url.href} answered ${answer.status}`);
  }
  return answer.body;
}

export function missing(): never {
  throw new Error('the program reports no address');
}
