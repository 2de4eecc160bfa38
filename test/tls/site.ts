import { createMemory } from '../../lib/function/memory.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Admission } from '../../lib/function/admission.ts';
import type { Context } from '../../lib/function/definition.ts';
import { openFront } from '../../lib/http/front.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { createKube, type Call } from '../../lib/kube/client.ts';
import {
  endpointSlices,
  mutatingWebhooks,
  namespaces,
  type MutatingWebhookConfiguration,
} from '../../lib/kube/model/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { functionMetrics } from '../../lib/runtime/metrics.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { keeperOf } from '../../lib/tls/keeper.ts';
import { pollCertificate } from '../../lib/tls/poll.ts';
import { certificateOf, servingKey, type Serving } from '../../lib/tls/serving.ts';
import type { TlsConfig, TlsMode } from '../../lib/tls/settings.ts';
import { upkeep } from '../../lib/tls/upkeep.ts';
import { targetsOf } from '../../lib/tls/webhooks.ts';

export const functionName = 'gate';
export const configurationName = 'kube-reflex-gate';
export const host = 'gate-webhook.kube-reflex.svc';

const admission: Pick<Admission, 'type' | 'webhooks'> = {
  type: 'mutating',
  webhooks: [{ name: 'own.gate.kube-reflex.dev', failurePolicy: 'Ignore', rules: [] }],
};

/** A cluster with a webhook configuration, and replicas whose clock the test controls. */
export interface Site {
  readonly sandbox: Sandbox;
  readonly now: () => Date;
  readonly pass: (seconds: number) => void;
  /** The certificate part of a function's process; nothing runs except what the test calls. */
  readonly replica: (mode: TlsMode, settings?: Partial<TlsConfig>) => Promise<Replica>;
  readonly configuration: () => MutatingWebhookConfiguration;
  /** What our entry trusts, as PEM. */
  readonly trusted: () => string;
  /** Makes these replicas the only endpoints of the Service. */
  readonly route: (...replicas: readonly Replica[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Replica {
  readonly directory: string;
  readonly port: number;
  readonly serving: Serving;
  readonly calls: readonly Call[];
  readonly poll: () => Promise<void>;
  readonly upkeep: () => Promise<void>;
  /** Why it is not ready; `undefined` if it is. */
  readonly problem: () => Promise<string | undefined>;
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** @param daysAgo when its clock starts; clients that check certificates use the present */
export async function openSite(daysAgo = 0): Promise<Site> {
  const sandbox = await startSandbox();
  const access = kubeconfigAccess(JSON.stringify(sandbox.kubeconfig));
  const opened: (() => unknown)[] = [];
  let shiftMs = -daysAgo * 86_400_000;
  await sandbox.api.create(namespaces, { metadata: { name: 'kube-reflex' } });
  await sandbox.api.create(mutatingWebhooks, configurationObject());

  function now(): Date {
    return new Date(Date.now() + shiftMs);
  }

  async function replica(mode: TlsMode, settings: Partial<TlsConfig> = {}): Promise<Replica> {
    const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
    const calls: Call[] = [];
    const registry = new Registry();
    const transport = createTransport(access);
    const log = pino({ level: 'silent' });
    const kube = createKube({
      transport,
      log,
      now,
      fieldManager: `kube-reflex.dev/${functionName}`,
      observe: (call) => calls.push(call),
    });
    const config: TlsConfig = {
      CERT_DIR: directory,
      TLS_SECRET: 'gate-certificates',
      WEBHOOK_SERVICE: 'gate-webhook',
      CERT_POLL_SECONDS: 10,
      CA_PROPAGATION_SECONDS: 15,
      CA_RETIRE_SECONDS: 86_400,
      ...settings,
    };
    const context: Context<TlsConfig> = {
      config,
      kube,
      log,
      now,
      metrics: functionMetrics(registry, functionName),
      namespace: 'kube-reflex',
      signal: new AbortController().signal,
      later: () => undefined,
      memory: createMemory(),
      conditions: { set: () => undefined, standing: () => [] },
    };
    const keeper = keeperOf(context, { name: functionName, mode, targets: targetsOf(functionName, [admission]) });
    const front = await openFront({
      port: 0,
      host: '127.0.0.1',
      tls: {},
      answer: (_request, response) => response.end('ok'),
    });
    const serving = context.memory(servingKey);
    serving.present = front.renew;
    async function stop(): Promise<void> {
      transport.close();
      await front.close();
      rmSync(directory, { recursive: true, force: true });
    }
    opened.push(stop);
    return {
      directory,
      calls,
      serving,
      stop,
      port: Number(front.url.port),
      poll: () => pollCertificate(keeper),
      upkeep: () => upkeep(keeper),
      problem: () => certificateOf(context).problem(Number(front.url.port)),
      metrics: () => registry.metrics(),
    };
  }

  function configuration(): MutatingWebhookConfiguration {
    return sandbox.api.get(mutatingWebhooks, configurationName) as MutatingWebhookConfiguration;
  }

  return {
    sandbox,
    now,
    pass: (seconds) => (shiftMs += seconds * 1000),
    replica,
    configuration,
    trusted: () => {
      const [, own] = configuration().webhooks ?? [];
      return Buffer.from(own?.clientConfig.caBundle ?? '', 'base64').toString();
    },
    route: async (...replicas) => {
      for (const { metadata } of sandbox.api.list(endpointSlices)) {
        await sandbox.api.remove(endpointSlices, { name: metadata?.name ?? '', namespace: 'kube-reflex' });
      }
      for (const { port } of replicas) {
        await sandbox.api.create(endpointSlices, endpointSlice(port));
      }
    },
    close: async () => {
      await Promise.all(opened.map((end) => end()));
      await sandbox.close();
    },
  };
}

/** The foreign entry comes first, so that ours is not found by chance. */
export function configurationObject(): MutatingWebhookConfiguration {
  const shared = { admissionReviewVersions: ['v1'], sideEffects: 'None' };
  const service = { namespace: 'kube-reflex', path: '/mutate', port: 443 };
  return {
    metadata: { name: configurationName },
    webhooks: [
      { name: 'foreign.example.com', clientConfig: { service: { ...service, name: 'foreign' } }, ...shared },
      { name: 'own.gate.kube-reflex.dev', clientConfig: { service: { ...service, name: 'gate-webhook' } }, ...shared },
    ],
  };
}

function endpointSlice(port: number): object {
  return {
    metadata: {
      name: `gate-webhook-${port}`,
      namespace: 'kube-reflex',
      labels: { 'kubernetes.io/service-name': 'gate-webhook' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'https', port }],
  };
}
