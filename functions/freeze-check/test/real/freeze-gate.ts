import { readFileSync } from 'node:fs';
import freezeCheck from '../../index.ts';
import { kubeconfigAccess } from '../../../../lib/kube/access.ts';
import type { Running } from '../../../../lib/runtime/main.ts';
import { clusterName, partName } from '../../../../lib/function/names.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import { startApp } from '../../../../test/support/http.ts';
import { mintAuthority, mintPair } from '../../../../test/tls/mint.ts';
import type { FreezeSite } from './freeze-site.ts';
import { accountKubeconfig, readMetric } from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { webhookConfigurationsOf, webhookPort } from '../../../../test/real/support/webhook.ts';

type Settings = Readonly<Record<string, string>>;

/** The half that answers reviews, in the process of the suite and by its shipped account, with a clock to turn. */
export interface FreezeGate extends AsyncDisposable {
  /** What the API server trusts, and where it asks about workloads. */
  readonly clientConfig: { readonly service: object; readonly caBundle: string };
  readonly turnTo: (time: string) => void;
  /** The value of a counter since the settings changed last. */
  readonly metric: (name: string, labels?: Settings) => Promise<number>;
  /** Starts anew with other settings, and without any when called without. Somebody has to wait until it is asked. */
  readonly restart: (settings?: Settings) => Promise<void>;
}

/**
 * Opens the gate and lets the API server ask there about workloads. Policies go in unchecked, as they do where they are
 * older than the webhook: some cases need one that it would refuse.
 */
export async function openFreezeGate({ cluster, client }: FreezeSite, at: string): Promise<FreezeGate> {
  const port = webhookPort(cluster);
  const name = partName(freezeCheck.name, 'webhook');
  const { namespace } = standardInstallation;
  const today = new Date();
  const { ca, ...tls } = await mintPair(await mintAuthority(today), { now: today, host: `${name}.${namespace}.svc` });
  const kubeconfig = await accountKubeconfig(cluster, { name: freezeCheck.name, part: 'webhook' });
  const path = '/validate-freeze-operator-io-v1alpha1-workloads';
  const clientConfig = {
    service: { name, namespace, path, port },
    caBundle: Buffer.from(ca).toString('base64'),
  };
  let time = new Date(at);
  let app = await start();

  function start(settings: Settings = {}): Promise<Running> {
    return startApp(freezeCheck, {
      access: kubeconfigAccess(readFileSync(kubeconfig, 'utf8')),
      environment: {
        POD_NAMESPACE: namespace,
        ROLE: 'admission',
        TLS_PORT: String(port),
        POLICY_MAX_AGE: '0s',
        ...settings,
      },
      tls,
      now: () => time,
    });
  }

  await applyManifest(client, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  for (const configuration of webhookConfigurationsOf(freezeCheck)) {
    if (configuration.metadata.name === clusterName(freezeCheck.name)) {
      const webhooks = (configuration['webhooks'] as object[]).map((webhook) => ({ ...webhook, clientConfig }));
      await applyManifest(client, { ...configuration, webhooks });
    }
  }

  return {
    clientConfig,
    turnTo: (text) => {
      time = new Date(text);
    },
    metric: (metric, labels) => readMetric(app.url, metric, labels),
    restart: async (settings) => {
      await app.close();
      app = await start(settings);
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
