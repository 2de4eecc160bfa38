import { mkdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { issueAuthority } from '../../../lib/base/x509.ts';
import type { KeyPair } from '../../../lib/tls/certificate.ts';
import { createClient, type Body, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { mintPair, mountPair } from '../../tls/mint.ts';
import { shipped } from './census.ts';
import { startCluster, type Cluster } from '../parts/cluster.ts';
import { installRights, startFunction, type RealFunction } from '../support/function.ts';
import { applyManifest } from '../../support/manifests.ts';
import { webhookConfigurationsOf, webhookPort } from '../support/webhook.ts';

const { namespace } = standardInstallation;
const configurationPath =
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kube-reflex-host-census';

export const host = `host-census-webhook.${namespace}.svc`;

/** Two replicas of a webhook beside a real API server, under their shipped rights. */
export interface TlsSite extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  /** Where replica 0 or 1 answers reviews. */
  readonly ports: readonly number[];
  readonly mount: (replica: number, pair: KeyPair) => void;
  readonly startReplica: (replica: number, environment: Readonly<Record<string, string>>) => Promise<RealFunction>;
  readonly startEvents: (environment: Readonly<Record<string, string>>) => Promise<RealFunction>;
  /** Whom the webhook trusts now, as PEM, read at each call. */
  readonly readTrusted: () => Promise<string>;
}

export async function openTlsSite(): Promise<TlsSite> {
  const cluster = await startCluster();
  const client = createClient(cluster.access);
  await installRights(cluster, shipped);
  for (const configuration of webhookConfigurationsOf(shipped.definition)) {
    await applyManifest(client, configuration);
  }
  const ports = [0, 1].map((replica) => webhookPort(cluster, replica));

  function directoryOf(replica: number): string {
    return join(cluster.site.directory, `certificates-${replica}`);
  }

  return {
    cluster,
    client,
    ports,
    mount: (replica, pair) => {
      mkdirSync(directoryOf(replica), { recursive: true });
      mountPair(directoryOf(replica), pair);
    },
    startReplica: (replica, environment) =>
      startFunction(cluster, shipped, {
        port: replica,
        part: 'webhook',
        environment: {
          CERT_DIR: directoryOf(replica),
          TLS_PORT: String(ports[replica]),
          ...environment,
        },
      }),
    startEvents: (environment) => startFunction(cluster, shipped, { port: 2, environment }),
    readTrusted: async () => {
      const { webhooks } = expectCode(200, await client.call('GET', configurationPath)) as Body & {
        readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
      };
      return Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString();
    },
    [Symbol.asyncDispose]: async () => {
      client.close();
      await cluster.stop();
    },
  };
}

/** Makes the Service lead to these ports of this machine. */
export async function routeTo({ client }: TlsSite, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    await applyManifest(client, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `host-census-webhook-${port}`,
        namespace,
        labels: { 'kubernetes.io/service-name': 'host-census-webhook' },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [outerAddress()], conditions: { ready: true } }],
      ports: [{ name: 'https', port }],
    });
  }
}

/** An API server takes no loopback address as that of a pod. */
function outerAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (outer === undefined) {
    throw new Error('this machine has no IPv4 address but the loopback one');
  }
  return outer.address;
}

/** The Secret of `self` mode with an authority that is due for its successor. */
export async function seedAgedSecret({ client }: TlsSite): Promise<void> {
  const dayMs = 86_400_000;
  const now = Date.now();
  const validity = { notBefore: new Date(now - 300 * dayMs), notAfter: new Date(now + 65 * dayMs) };
  const authority = await issueAuthority('aged', validity);
  const { cert, key, ca } = await mintPair(authority, { now: new Date(now), host, days: 60 });
  const files = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca, 'ca.key': authority.key };
  await applyManifest(client, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  });
}

/** Where the rotation of `self` mode stands. */
export async function readPhase({ client }: TlsSite): Promise<string | undefined> {
  const secret = expectCode(200, await client.call('GET', `/api/v1/namespaces/${namespace}/secrets/${secretName}`));
  return secret.metadata?.annotations?.['host-census.kube-reflex.dev/tls-phase'];
}

const secretName = 'host-census-certificates';
