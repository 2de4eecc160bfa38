import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { createClient, type Client, type Reply } from '../../../lib/sandbox/test/contract/client.ts';
import { settledAudit } from '../parts/audit.ts';
import { shipped } from './census.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { installRights, startFunction, usernameOf, type RealFunction } from '../support/function.ts';
import { waitUntil } from '../parts/wait.ts';
import { registerWebhooks, webhookPort } from '../support/webhook.ts';

const patience = 300_000;
const { namespace } = standardInstallation;
const refusing = { 'host-census.kube-reflex.dev/refuse': 'true' };

describe('host-census as a webhook of the real API server', () => {
  const running = new AsyncDisposableStack();
  let cluster: Cluster;
  let client: Client;
  let environment: Readonly<Record<string, string>>;
  let subject: RealFunction;

  beforeAll(async () => {
    cluster = running.use(await startCluster());
    client = running.adopt(createClient(cluster.access), ({ close }) => close());
    await installRights(cluster, shipped);
    const tlsPort = webhookPort(cluster);
    environment = { TLS_PORT: String(tlsPort) };
    await registerWebhooks(client, shipped.definition, tlsPort);
    subject = await startFunction(cluster, shipped, { port: 0, part: 'webhook', environment });
    await waitUntil('the webhook is asked', async () => (await create('probe', refusing)).code === 403);
  }, patience);

  afterAll(() => running.disposeAsync());

  it('PF-18 refuses what the function refuses, in its words', async () => {
    const { code, body } = await create('refused', refusing);

    expect(code).toBe(403);
    expect(body.message).toBe(
      'admission webhook "validate.host-census.kube-reflex.dev" denied the request: ' +
        'the annotation host-census.kube-reflex.dev/refuse asks for it',
    );
  });

  it('lets everything else through, and sees updates too', async () => {
    const made = await create('allowed', {});
    const changed = await client.call('PATCH', `${ingressesIn('default')}/allowed`, {
      body: { metadata: { annotations: refusing } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });

    expect([made.code, changed.code]).toEqual([201, 403]);
  });

  it('is not asked about its own namespace', async () => {
    expect((await create('own', refusing, namespace)).code).toBe(201);
  });

  it('PF-18 stands in nobody’s way when it is down, and is asked again when it is back', async () => {
    await subject.running.stop();
    const down = await create('while-down', refusing);
    subject = await startFunction(cluster, shipped, { port: 0, part: 'webhook', environment });
    const back = await create('when-back', refusing);

    expect([down.code, back.code]).toEqual([201, 403]);
  });

  it('asks the API server for its certificate and for being trusted, and for nothing else', async () => {
    const account = usernameOf('host-census', 'webhook');
    const asked = (await settledAudit(cluster, client))
      .filter(({ user }) => user.username === account)
      .map(
        ({ verb, objectRef, responseStatus }) => `${verb} ${objectRef?.resource ?? ''} ${responseStatus?.code ?? 0}`,
      );

    expect(new Set(asked)).toEqual(
      new Set([
        'get secrets 404',
        'create secrets 201',
        'get secrets 200',
        'get validatingwebhookconfigurations 200',
        'patch validatingwebhookconfigurations 200',
      ]),
    );
  });

  function create(name: string, annotations: Readonly<Record<string, string>>, place = 'default'): Promise<Reply> {
    const backend = { service: { name: 'web', port: { number: 80 } } };
    return client.call('POST', ingressesIn(place), {
      body: { metadata: { name, annotations }, spec: { defaultBackend: backend } },
      query: name === 'probe' ? { dryRun: 'All' } : {},
    });
  }
});

function ingressesIn(place: string): string {
  return `/apis/networking.k8s.io/v1/namespaces/${place}/ingresses`;
}
