import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { churnPrefix, createChurn, selected } from './churn.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { forgetHistory } from '../parts/history.ts';
import { startProxy, type Proxy } from '../parts/proxy.ts';
import { eventsOf, firstDifference, startSideBySide } from './side-by-side.ts';
import { kubeconfigText } from '../parts/site.ts';

const patience = 300_000;
const seed = 20_261_116;
const operations = 3000;
const configMaps = '/api/v1/namespaces/default/configmaps';

describe('our event source beside the real adapter', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let proxy: Proxy;
  let client: Client;
  let kubeconfig: string;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = running.adopt(createClient(cluster.access), ({ close }) => close());
    proxy = running.use(await startProxy(Number(new URL(cluster.access.url).port)));
    kubeconfig = join(cluster.site.directory, 'watching.kubeconfig');
    const url = `https://127.0.0.1:${proxy.port}`;
    writeFileSync(kubeconfig, kubeconfigText({ ...cluster.access, url }), { mode: 0o600 });
  }, patience);

  afterAll(() => running.disposeAsync());

  it(
    'sends the same, event for event, for thousands of creates, updates and deletes',
    async () => {
      await using both = await startSideBySide(cluster, kubeconfig);
      const churn = createChurn(client, seed);

      for (let done = 0; done < operations; done += 300) {
        await churn.run(300);
        await both.caughtUp();
      }

      for (const { mode, ours, theirs } of both.pairs) {
        for (const kind of ['Ingress', 'ConfigMap', 'Namespace']) {
          const sent = { ours: eventsOf(kind, ours.received), theirs: eventsOf(kind, theirs.received) };
          expect([mode, kind, firstDifference(sent.ours, sent.theirs)]).toEqual([mode, kind, undefined]);
          expect(sent.ours.length).toBeGreaterThan(operations / 10);
        }
      }
    },
    patience,
  );

  it(
    'sends after a restart the present objects, for which the adapter sends nothing',
    async () => {
      const { items = [] } = expectCode(
        200,
        await client.call('GET', configMaps, { query: { labelSelector: 'watched=yes' } }),
      );
      const present = items.map(({ metadata }) => metadata?.name ?? '').filter((name) => name.startsWith(churnPrefix));

      await using both = await startSideBySide(cluster, kubeconfig);

      for (const { mode, ours, theirs } of both.pairs) {
        const found = eventsOf('ConfigMap', ours.received);
        expect(eventsOf('ConfigMap', theirs.received)).toEqual([]);
        expect(found.map(({ attributes }) => attributes['ce-name']).sort()).toEqual(present.sort());
        expect(new Set(found.map(({ attributes }) => attributes['ce-type']))).toEqual(
          new Set([`dev.knative.apiserver.${mode === 'Reference' ? 'ref' : 'resource'}.add`]),
        );
      }
      expect(present).not.toEqual([]);
    },
    patience,
  );

  it(
    'sends after a gap the missed changes, for which the adapter sends nothing',
    async () => {
      await using both = await startSideBySide(cluster, kubeconfig);
      for (const name of ['changes', 'goes']) {
        await put(name, { metadata: { labels: selected } });
      }
      await both.caughtUp();
      const before = both.pairs.map(({ ours, theirs }) => [ours.received.length, theirs.received.length] as const);

      both.freezeAdapters();
      proxy.refuse(true);
      proxy.cut();
      await put('changes', { metadata: { labels: selected }, data: { now: 'different' } });
      await forgetHistory(cluster);
      await put('comes', { metadata: { labels: selected } });
      expectCode(200, await client.call('DELETE', `${configMaps}/${churnPrefix}goes`));
      proxy.refuse(false);
      both.thawAdapters();
      await both.caughtUp();

      for (const [index, { ours, theirs }] of both.pairs.entries()) {
        const [oursBefore, theirsBefore] = before[index] ?? [0, 0];
        const says = ours.received.slice(oursBefore).map((event) => event.says);
        expect(says.filter((text) => text.includes(churnPrefix)).sort()).toEqual([
          'add default/churn-comes',
          'delete default/churn-goes',
          'update default/churn-changes',
        ]);
        expect(eventsOf('ConfigMap', theirs.received.slice(theirsBefore))).toEqual([]);
      }
    },
    patience,
  );

  async function put(name: string, object: { readonly metadata: object; readonly data?: object }): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...object,
      metadata: { ...object.metadata, name: `${churnPrefix}${name}` },
    };
    const reply = await client.call('PATCH', `${configMaps}/${body.metadata.name}`, {
      body,
      query: { fieldManager: 'real-parts' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    expect([200, 201]).toContain(reply.code);
  }
});
