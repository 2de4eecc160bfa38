import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { startRecorder, type Recorder } from '../../../lib/source/testing/recorder.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { binaryEvent, send, type Sent } from '../../support/http.ts';
import { sourcesOf, startAdapter, untilWatching, type SourceManifest } from './adapter.ts';
import { startBrokerDoors } from './broker.ts';
import { openCensus, shipped, type Census } from './census.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { installEventing } from './eventing.ts';
import { installRights, startFunction, type RealFunction } from '../support/function.ts';
import { applyManifest, patchStatus } from '../../support/manifests.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import { waitUntil } from '../parts/wait.ts';

const patience = 300_000;
const { namespace } = standardInstallation;

/** How often a sender tries again after an answer; `cut` is a connection that breaks. */
const retriedByAdapter = [404, 413, 425, 429, 502, 503, 504, 'cut'] as const;
const lostByAdapter = [400, 401, 403, 408, 409, 415, 422, 500, 501] as const;

describe('what real senders make of answers', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let census: Census;
  let filter: URL;
  let sink: Recorder;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    await installRights(cluster, shipped);
    census = running.adopt(await openCensus(cluster), ({ close }) => close());
    sink = running.adopt(await startRecorder(), ({ close }) => close());
    await installEventing(census.client);
    const doors = await startBrokerDoors(cluster);
    filter = new URL(await openShippedTrigger(sink.url), doors.filter);
  }, patience);
  afterAll(() => running.disposeAsync());

  /** Resolves with the path at which the real filter serves the shipped Trigger. */
  async function openShippedTrigger(subscriber: URL): Promise<string> {
    const trigger = renderFunction(shipped.definition).manifests.find(
      ({ kind, metadata }) => kind === 'Trigger' && metadata.name === 'host-census-ingresses',
    );
    if (trigger === undefined) {
      throw new Error('there is no such Trigger');
    }
    const { metadata } = await applyManifest(census.client, trigger);
    await patchStatus(census.client, trigger, { subscriberUri: subscriber.href });
    return `/triggers/${namespace}/${trigger.metadata.name}/${metadata?.uid ?? ''}`;
  }

  it(
    'PF-11 status codes: the real adapter tries again after what may pass, and gives up at once after the rest',
    async () => {
      const [source] = sourcesOf(shipped.definition).filter(({ spec }) => spec.namespaceSelector !== undefined);
      await watching([source ?? ({} as SourceManifest)], sink);
      const statuses = [...retriedByAdapter, ...lostByAdapter, 200, 204] as const;
      const pending = new Map(statuses.map((status) => [`answer-${status}`, status]));
      sink.answerWith(({ headers }) => {
        const name = String(headers['ce-name']);
        const answer = pending.get(name) ?? 204;
        pending.delete(name);
        return answer;
      });

      for (const status of statuses) {
        await census.ask(`answer-${status}`, `answer-${status}.example`);
      }
      // One watch sends one event at a time: after the last one, all have arrived.
      await waitUntil('the last', () => triesOf(sink, 204) === 1);

      expect(Object.fromEntries(statuses.map((status) => [status, triesOf(sink, status)]))).toEqual(
        Object.fromEntries(
          statuses.map((status) => [status, (retriedByAdapter as readonly unknown[]).includes(status) ? 2 : 1]),
        ),
      );
    },
    patience,
  );

  it('PF-11 status codes: the real filter hands on what the function answered', async () => {
    const statuses = [204, 400, 404, 409, 413, 422, 429, 500, 503];
    const seen: number[] = [];
    for (const status of statuses) {
      sink.answerWith(() => status);
      seen.push((await send(filter, { ...ingressEvent(), path: filter.pathname })).status);
    }

    expect(seen).toEqual(statuses);
  });

  it('PF-12 reply body: the real filter makes a 502 of it, which is why functions answer without one', async () => {
    const chatty = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    }).listen(0, '127.0.0.1');
    running.defer(() => {
      chatty.close();
      chatty.closeAllConnections();
    });
    await once(chatty, 'listening');
    const { port } = chatty.address() as AddressInfo;
    const subject = await startFunction(cluster, shipped, { port: 1 });

    await openShippedTrigger(new URL(`http://127.0.0.1:${port}`));
    await waitUntil('the filter has heard', async () => (await deliver()).status === 502);
    await openShippedTrigger(subject.url);
    await waitUntil('the filter has heard', async () => (await deliver()).status === 204);
    const direct = await send(subject.url, ingressEvent());
    await subject.running.stop();

    expect(direct).toMatchObject({ status: 204, body: '' });
  });

  function deliver(): ReturnType<typeof send> {
    return send(filter, { ...ingressEvent(), path: filter.pathname });
  }

  async function watching(
    sources: readonly SourceManifest[],
    { url, received }: Recorder | Relay,
    kubeconfig?: string,
  ): Promise<void> {
    const options = { sink: url, ...(kubeconfig === undefined ? {} : { kubeconfig }) };
    const adapters = await Promise.all(sources.map((source) => startAdapter(cluster, source, options)));
    for (const adapter of adapters) {
      running.defer(() => adapter.stop());
    }
    await untilWatching(cluster, sources, received);
  }

  describe('of the function itself', () => {
    let subject: RealFunction;
    let relay: Relay;

    beforeAll(async () => {
      subject = await startFunction(cluster, shipped, { port: 0 });
      relay = running.adopt(await startRelay(), ({ close }) => close());
      const [, ...others] = sourcesOf(shipped.definition);
      await watching(others, relay);
      await watching([ofMutatingWebhooks], relay, cluster.site.kubeconfig);
      relay.to(subject.url);
    }, patience);

    it(
      'PF-13 big object: a ConfigMap of a megabyte in Resource mode is taken, and memory stays bounded',
      async () => {
        const path = `/api/v1/namespaces/${namespace}/configmaps/host-census`;
        for (let round = 0; round < 20; round += 1) {
          const body = { data: { ballast: `${round} `.padEnd(1_000_000, 'x') } };
          await patchOrCreate(path, body);
          await waitUntil(`an answer to round ${round}`, () => bigEvents().length > round);
        }
        const again = binaryEvent({
          type: 'dev.knative.apiserver.resource.update',
          ...{ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'host-census' },
          data: bigEvents()[0]?.object,
        });
        const answers = new Set<number>();
        async function sendAgain(times: number): Promise<number> {
          for (let round = 0; round < times; round += 1) {
            answers.add((await send(subject.url, again)).status);
          }
          return peakMegabytes(subject);
        }
        const usual = await sendAgain(100);
        const peak = await sendAgain(300);

        expect(answers).toEqual(new Set([204]));
        expect(Math.max(...bigEvents().map(({ body }) => body.length))).toBeGreaterThan(1_000_000);
        expect(new Set(bigEvents().map(({ status }) => status))).toEqual(new Set([204]));
        // A process that kept what came in would hold 300 MB more; about 300 MB in all were measured, 30 of them late.
        expect(peak - usual).toBeLessThan(100);
        expect(peak).toBeLessThan(400);
      },
      patience,
    );

    it('PF-14 cluster-scoped: Namespaces and webhook configurations arrive with an empty namespace and are handled', async () => {
      const runs = await subject.metric('kube_reflex_runs_total');
      await applyManifest(census.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } });
      await applyManifest(census.client, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'team-a' },
        webhooks: [],
      });
      await waitUntil('both', () => eventsOf('team-a').length >= 2);

      expect(
        eventsOf('team-a').map(({ headers, status }) => [headers['ce-kind'], headers['ce-namespace'], status]),
      ).toEqual(
        expect.arrayContaining([
          ['Namespace', '', 204],
          ['MutatingWebhookConfiguration', '', 204],
        ]),
      );
      expect(await subject.metric('kube_reflex_runs_total')).toBeGreaterThan(runs);
    });

    function bigEvents(): Relay['passed'] {
      return relay.passed.filter(({ headers, body }) => headers['ce-kind'] === 'ConfigMap' && body.length > 1_000_000);
    }

    function eventsOf(name: string): Relay['passed'] {
      return relay.passed.filter(({ headers }) => headers['ce-name'] === name);
    }

    async function patchOrCreate(path: string, body: object): Promise<void> {
      const patched = await census.client.call('PATCH', path, {
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'host-census', namespace }, ...body },
        query: { fieldManager: 'ballast', force: true },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
      expectCode(patched.code === 201 ? 201 : 200, patched);
    }
  });
});

/** No sample function watches these; what is not for it must be fine with it. */
const ofMutatingWebhooks: SourceManifest = {
  apiVersion: 'sources.knative.dev/v1',
  kind: 'ApiServerSource',
  metadata: { name: 'webhooks', namespace },
  spec: {
    mode: 'Resource',
    serviceAccountName: 'admin',
    resources: [{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' }],
  },
};

function triesOf({ received }: Recorder, status: number | string): number {
  return received.filter(({ headers }) => headers['ce-name'] === `answer-${status}`).length;
}

function ingressEvent(): Sent {
  const place = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'default', name: 'some' };
  const event = binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...place });
  // The Broker's ingress counts hops, and its filter insists on that.
  const added = { 'ce-fnsource': 'host-census', 'ce-knativebrokerttl': '255' };
  return { ...event, headers: { ...event.headers, ...added }, body: '{}' };
}

function peakMegabytes({ running }: RealFunction): number {
  const status = readFileSync(`/proc/${running.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
