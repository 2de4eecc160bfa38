import { readFileSync } from 'node:fs';
import { Counter, Gauge } from 'prom-client';
import * as z from 'zod/mini';
import { file, parseConfig, type Environment } from '../function/config.ts';
import { openFront } from '../http/front.ts';
import { clusterAccess } from '../kube/access.ts';
import { createTransport } from '../kube/transport.ts';
import { createLog } from '../base/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { ownNamespace } from '../runtime/own-namespace.ts';
import { ProcessSettings } from '../function/settings.ts';
import type { Subscription, WrittenSubscription } from '../source/branch.ts';
import { startSource } from '../source/source.ts';
import { plainSurface } from '../runtime/surface.ts';
import { version } from '../base/version.ts';

/** `kube-reflex source`: the event source as a separate program, for clusters without Knative. */
const SourceSettings = z.object({
  SUBSCRIPTIONS: file({
    about: 'JSON file with the subscriptions of the functions',
    example: '/etc/kube-reflex/subscriptions.json',
  }),
});

async function main(environment: Environment): Promise<void> {
  const settings = parseConfig(ProcessSettings, environment);
  const { SUBSCRIPTIONS } = parseConfig(SourceSettings, environment);
  const log = createLog({ level: settings.LOG_LEVEL, readable: process.stdout.isTTY });
  const metrics = createMetrics(version);
  const registers = [metrics.registry];
  const sent = new Counter({
    name: 'kube_reflex_source_events_total',
    help: 'Events by function, type and result: sent, waiting for a retry, or refused for good.',
    labelNames: ['function', 'type', 'result'],
    registers,
  });
  const transport = createTransport(clusterAccess(settings.KUBECONFIG));
  const source = await startSource({
    transport,
    namespace: ownNamespace(settings),
    subscriptions: readSubscriptions(SUBSCRIPTIONS),
    log,
    onSent: ({ function: name, type }) => sent.inc({ function: name, type, result: 'sent' }),
    onFailed: ({ function: name, type, lost }) =>
      sent.inc({ function: name, type, result: lost ? 'refused' : 'waiting' }),
  });
  new Gauge({
    name: 'kube_reflex_source_waiting',
    help: 'Events that are not delivered yet.',
    registers,
    collect() {
      this.set(source.waiting());
    },
  });
  let problem: string | undefined;
  const surface = plainSurface([], { problem: () => Promise.resolve(problem), metrics });
  const front = await openFront({ port: settings.PORT, answer: surface });
  log.info({ functions: ['source'], urls: [front.url.href] }, 'listening');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      problem = 'draining';
      void Promise.all([source.close(), front.close()]).then(() => process.exit(0));
    });
  }
}

function readSubscriptions(path: string): Subscription[] {
  const written = JSON.parse(readFileSync(path, 'utf8')) as readonly WrittenSubscription[];
  return written.map(({ sink, ...subscription }) => ({ ...subscription, sink: new URL(sink) }));
}

void main(process.env).catch((error: unknown) => {
  process.stderr.write(`source: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
