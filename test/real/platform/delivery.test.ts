import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { renderFunction } from '../../../lib/install/manifests/function-manifests.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { binaryEvent, send, type Sent } from '../../support/http.ts';
import { sourcesOf, startAdapter, untilWatching } from './adapter.ts';
import { openTrigger, startBrokerDoors, type BrokerDoors } from './broker.ts';
import { openCensus, shipped, type Census } from './census.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { installEventing } from './eventing.ts';
import { installRights, startFunction } from '../support/function.ts';
import { startPing, tickTo } from './ping.ts';
import { startRelay, type Relay } from '../support/relay.ts';

const patience = 300_000;
const { definition } = shipped;

describe('real senders', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let census: Census;
  let relay: Relay;
  let doors: BrokerDoors;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    await installRights(cluster, shipped);
    census = running.adopt(await openCensus(cluster), ({ close }) => close());
    await installEventing(census.client);
    doors = await startBrokerDoors(cluster);
    await startPing(cluster);
    relay = running.adopt(await startRelay(), ({ close }) => close());
    const subject = await startFunction(cluster, shipped, { port: 0 });
    relay.to(subject.url);
  }, patience);

  afterAll(() => running.disposeAsync());

  it(
    'ticks by the shipped PingSource and the shipped Trigger',
    async () => {
      const entrance = await openTrigger(census.client, manifest('Trigger', 'host-census-tick'), {
        doors,
        subscriber: relay.url,
      });
      const source = manifest('PingSource', 'host-census-tick');
      await census.ask('a', 'a.example');

      await tickTo(census.client, everySecond(source), entrance);
      await census.untilHosts(['a.example']);
      await relay.idle();

      const tick = relay.passed.at(0);
      expect(tick?.status).toBe(204);
      expect(tick?.headers).toMatchObject({
        'ce-type': 'dev.knative.sources.ping',
        'ce-source': '/apis/v1/namespaces/kube-reflex/pingsources/host-census-tick',
        'ce-fnsource': 'host-census',
      });
      await census.client.call(
        'DELETE',
        '/apis/sources.knative.dev/v1/namespaces/kube-reflex/pingsources/host-census-tick',
      );
    },
    patience,
  );

  it(
    'delivers what the real adapter sends through the shipped Trigger, and keeps back what it filters out',
    async () => {
      const entrance = await openTrigger(census.client, manifest('Trigger', 'host-census-ingresses'), {
        doors,
        subscriber: relay.url,
      });
      const sources = sourcesOf(definition).filter(({ spec }) => spec.namespaceSelector !== undefined);
      await Promise.all(sources.map((source) => startAdapter(cluster, source, { sink: entrance })));
      await untilWatching(cluster, sources, relay.received);

      await census.ask('b', 'b.example');
      await census.untilHosts(['a.example', 'b.example']);
      const byHandEvents = [
        ingressEvent('another-function', 'dev.knative.apiserver.ref.update'),
        ingressEvent('host-census', 'dev.knative.apiserver.resource.update'),
        ingressEvent('host-census', 'dev.knative.apiserver.ref.update'),
      ];
      const answers: number[] = [];
      for (const event of byHandEvents) {
        answers.push((await send(entrance, { ...event, path: entrance.pathname })).status);
      }

      await relay.idle();
      const byHand = relay.passed.filter(({ headers }) => headers['ce-name'] === 'by-hand');
      expect(answers).toEqual([200, 200, 204]);
      expect(byHand.map(({ headers }) => headers['ce-fnsource'])).toEqual(['host-census']);
      expect(new Set(relay.passed.map(({ status }) => status))).toEqual(new Set([204]));
    },
    patience,
  );
});

function manifest(kind: string, name: string): Manifest {
  const found = renderFunction(definition).manifests.find(
    (candidate) => candidate.kind === kind && candidate.metadata.name === name,
  );
  if (found === undefined) {
    throw new Error(`there is no ${kind} ${name}`);
  }
  return found;
}

/** Nobody waits five minutes for a tick. PingSources take seconds too. */
function everySecond(source: Manifest): Manifest {
  return { ...source, spec: { ...(source['spec'] as object), schedule: '* * * * * *' } };
}

/** An event that no adapter sends, since the objects are made up. */
function ingressEvent(source: string, type: string): Sent {
  const event = binaryEvent({
    type,
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    name: 'by-hand',
    namespace: 'default',
  });
  return { ...event, headers: { ...event.headers, 'ce-fnsource': source }, body: '{}' };
}
