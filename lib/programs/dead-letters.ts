import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { countDeadLetters, deadLetterOf, type DeadLetter } from './dead-letter.ts';
import { parseConfig, type Environment } from '../function/config.ts';
import { asFailure } from '../base/failure.ts';
import { sendFailure, sendNothing } from '../http/answer.ts';
import { createBodyReader } from '../http/body.ts';
import { decodeEvents } from '../http/cloud-event.ts';
import { openFront, pathOf } from '../http/front.ts';
import { createLog } from '../base/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { ProcessSettings } from '../function/settings.ts';
import { plainSurface } from '../runtime/surface.ts';
import { version } from '../base/version.ts';

/** Larger than any event that a function accepts. */
const limit = 4 * 1024 * 1024;

/** `kube-reflex dead-letters`: logs and counts events that no function could handle. */
async function main(environment: Environment): Promise<void> {
  const settings = parseConfig(ProcessSettings, environment);
  const log = createLog({ level: settings.LOG_LEVEL, readable: process.stdout.isTTY });
  const metrics = createMetrics(version);
  const letters = countDeadLetters(metrics.registry);
  const bodies = createBodyReader(settings.MAX_INFLIGHT_BYTES);
  let problem: string | undefined;

  function record(letter: DeadLetter): void {
    log.warn(letter, 'dead letter');
    letters.inc({ code: String(letter.code ?? 'none') });
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodies.read(request, response, limit);
    for (const event of eventsIn(request.headers, body)) {
      record(deadLetterOf(event));
    }
  }

  const surface = plainSurface([], { problem: () => Promise.resolve(problem), metrics });
  const front = await openFront({
    port: settings.PORT,
    answer: (request, response) => {
      if (request.method !== 'POST' || pathOf(request) !== '/') {
        surface(request, response);
        return;
      }
      receive(request, response).then(
        () => sendNothing(response),
        (error: unknown) => sendFailure(response, asFailure(error)),
      );
    },
  });
  log.info({ functions: ['dead-letters'], urls: [front.url.href] }, 'listening');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      problem = 'draining';
      void front.close().then(() => process.exit(0));
    });
  }
}

type Attributes = Readonly<Record<string, unknown>>;

/** A dead letter may be malformed; then the headers that the Broker added still describe it. */
function eventsIn(headers: IncomingHttpHeaders, body: Buffer): readonly Attributes[] {
  try {
    return decodeEvents(headers, body).map((decode) => decode());
  } catch (error) {
    const attributes = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
    if (attributes.length === 0) {
      throw error;
    }
    return [Object.fromEntries(attributes.map(([name, value]) => [name.slice(3), value]))];
  }
}

void main(process.env).catch((error: unknown) => {
  process.stderr.write(`dead-letters: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
