import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import definition from '../../../functions/coredns-sync/index.ts';
import { coreConfigMap, corefile } from '../../../functions/coredns-sync/sandbox/coredns.ts';
import { distinct, standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { ingressOf, rulesName } from '../../../functions/coredns-sync/test/world.ts';
import { kustomize } from '../../shipping/kustomize.ts';
import { startAdapter, untilWatching, type SourceManifest } from './adapter.ts';
import { callsOf, readAudit } from '../parts/audit.ts';
import { startBrokerDoors } from './broker.ts';
import { startChannel } from './channel.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { installEventing, untilServed } from './eventing.ts';
import { startFunction, usernameOf } from '../support/function.ts';
import { applyManifest, patchStatus, pathOf, type AnyManifest } from '../../support/manifests.ts';
import { moduleManifests } from '../parts/module-files.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import { waitUntil } from '../parts/wait.ts';

const patience = 300_000;
const { namespace } = standardInstallation;

/** `kubectl apply -k knative`, and what Knative's controllers would do about it; one function really runs. */
describe('knative/ on a real API server, with real adapters, broker ingress and filter', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;
  let shipped: readonly Manifest[];
  let relay: Relay;

  beforeAll(async () => {
    shipped = await kustomize('knative');
    cluster = running.use(await startCluster());
    client = running.adopt(createClient(cluster.access), ({ close }) => close());
    await Promise.all([installEventing(client), installServingKinds()]);
    await install();
    const folder = join(import.meta.dirname, '../../../functions/coredns-sync');
    const subject = await startFunction(cluster, { definition, folder }, { port: 0 });
    relay = running.adopt(await startRelay(), ({ close }) => close());
    relay.to(subject.url);
    const entrance = await openBroker(relay.url);
    const sources = ofFunction('ApiServerSource') as SourceManifest[];
    await Promise.all(sources.map((source) => startAdapter(cluster, source, { sink: entrance })));
    const everywhere = sources.filter(({ spec }) => spec.namespaceSelector !== undefined);
    await untilWatching(cluster, everywhere, relay.received);
  }, patience);
  afterAll(() => running.disposeAsync());

  async function installServingKinds(): Promise<void> {
    const kinds = moduleManifests('serving', 'config/core/300-resources');
    await Promise.all(kinds.map((kind) => applyManifest(client, kind)));
    await untilServed(client, kinds);
  }

  async function install(): Promise<void> {
    const places = distinct(shipped.flatMap((manifest) => manifest.metadata.namespace ?? []));
    for (const name of [...places, 'shop']) {
      await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await applyManifest(client, { apiVersion: 'v1', kind: 'ConfigMap', ...coreConfigMap(corefile) } as AnyManifest);
    // Nobody answers the webhooks here: pods of other functions don't run.
    for (const manifest of shipped.filter(({ kind }) => !kind.endsWith('WebhookConfiguration'))) {
      await applyManifest(client, manifest);
    }
  }

  function ofFunction(wanted: string): readonly Manifest[] {
    return shipped.filter(
      ({ kind, metadata }) => kind === wanted && metadata.labels?.['app.kubernetes.io/name'] === definition.name,
    );
  }

  /** Says of the shipped Broker and Triggers what their controllers would; resolves with the Broker's address. */
  async function openBroker(subscriber: URL): Promise<URL> {
    const doors = await startBrokerDoors(cluster);
    const filters: URL[] = [];
    for (const trigger of ofFunction('Trigger')) {
      await patchStatus(client, trigger, { subscriberUri: subscriber.href });
      const { metadata } = (await client.call('GET', pathOf(trigger))).body;
      const { name = '', uid = '' } = metadata ?? {};
      filters.push(new URL(`/triggers/${namespace}/${name}/${uid}`, doors.filter));
    }
    const channel = running.use(await startChannel(filters));
    const [broker] = shipped.filter(({ kind }) => kind === 'Broker');
    await patchStatus(client, broker ?? ({} as Manifest), {
      annotations: { 'knative.dev/channelAddress': channel.url.href },
    });
    return new URL(`/${namespace}/${broker?.metadata.name ?? ''}`, doors.ingress);
  }

  it(
    'an Ingress is created, its source sends, the Broker delivers, coredns-sync writes rules, under shipped accounts',
    async () => {
      const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...ingressOf('web', ['web.example.com']) };
      await applyManifest(client, ingress as AnyManifest);

      await waitUntil('the rules', async () => {
        const { body } = await client.call('GET', `/api/v1/namespaces/kube-system/configmaps/${rulesName}`);
        return JSON.stringify(body['data'] ?? {}).includes('web.example.com');
      });
      await relay.idle();

      const sent = relay.passed.filter(({ headers }) => headers['ce-name'] === 'web');
      expect(sent.map(({ status, headers }) => [status, headers['ce-fnsource'], headers['ce-type']])).toEqual([
        [204, 'coredns-sync', 'dev.knative.apiserver.ref.add'],
      ]);
      expect(sent[0]?.headers).toHaveProperty('ce-knativearrivaltime');
    },
    patience,
  );

  it('nobody was refused a right, and each account did its own part', () => {
    const audit = readAudit(cluster);
    const accounts = [usernameOf('coredns-sync', 'events'), usernameOf('coredns-sync', 'source')];

    const refused = audit.filter(
      ({ user, responseStatus }) => user.username.startsWith('system:serviceaccount:') && responseStatus?.code === 403,
    );
    expect(refused.map(({ user, requestURI }) => [user.username, requestURI])).toEqual([]);
    expect(accounts.map((account) => Object.keys(callsOf(account, audit)))).toEqual([
      expect.arrayContaining(['list ingresses', 'create configmaps']),
      expect.arrayContaining(['watch ingresses']),
    ]);
  });
});
