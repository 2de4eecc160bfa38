import { Agent, type IncomingHttpHeaders } from 'node:http';
import { startRecorder, type Received } from '../../../lib/source/testing/recorder.ts';
import { send } from '../../support/http.ts';
import { waitUntil } from '../parts/wait.ts';

/** One event on its way through a relay. */
export interface Passed extends Received {
  /** What the function answered; 502 when it could not be reached, as a platform would say. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly ms: number;
}

/** Stands between a sender and functions, and writes down what passes and how it was answered. */
export interface Relay {
  readonly url: URL;
  /** Everything that was sent, in order of arrival. */
  readonly received: readonly Received[];
  /** What functions have answered, in order of their answers. */
  readonly passed: readonly Passed[];
  /** Resolves when everything that was passed on is answered. */
  readonly idle: () => Promise<void>;
  /** From now on the targets take turns. Without any, events end here with 204. */
  readonly to: (...targets: readonly URL[]) => void;
  readonly close: () => Promise<void>;
}

/** Each connection's own matter. */
const hopByHop = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding']);

/** The headers that whoever passes a request on repeats. */
export function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !hopByHop.has(name))
      .map(([name, value]) => [name, String(value)]),
  );
}

export async function startRelay(): Promise<Relay> {
  const recorder = await startRecorder();
  const agent = new Agent({ keepAlive: false });
  const passed: Passed[] = [];
  let targets: readonly URL[] = [];
  let turn = 0;
  let underWay = 0;

  async function pass(event: Received, target: URL): Promise<number> {
    const started = performance.now();
    underWay += 1;
    const answer = await send(target, { headers: endToEnd(event.headers), body: event.body, agent }).catch(
      () => undefined,
    );
    underWay -= 1;
    const status = answer?.status ?? 502;
    passed.push({ ...event, status, retryAfter: answer?.headers['retry-after'], ms: performance.now() - started });
    return status;
  }

  recorder.answerWith((event) => {
    const target = targets[turn % Math.max(1, targets.length)];
    turn += 1;
    return target === undefined ? 204 : pass(event, target);
  });

  return {
    url: recorder.url,
    received: recorder.received,
    passed,
    idle: () => waitUntil('answers', () => underWay === 0),
    to: (...urls) => (targets = urls),
    close: recorder.close,
  };
}
