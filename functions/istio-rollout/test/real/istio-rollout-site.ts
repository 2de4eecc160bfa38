import './cluster-names.cjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Logger } from 'pino';
import istioRollout from '../../index.ts';
import type { Status } from '../../render.ts';
import { emptyState, type State } from '../../state/state.ts';
import type { Environment } from '../../../../lib/function/config.ts';
import { kubeconfigAccess } from '../../../../lib/kube/access.ts';
import type { Running } from '../../../../lib/runtime/main.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import { createClient, type Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { binaryEvent, send, startApp, type Event } from '../../../../test/support/http.ts';
import type { AuditEvent } from '../../../../test/real/parts/audit.ts';
import { startCluster, type Cluster } from '../../../../test/real/parts/cluster.ts';
import { accountKubeconfig, installRights, type Shipped } from '../../../../test/real/support/function.ts';
import { addNodes } from '../../../../test/real/parts/nodes.ts';
import { usedBy } from '../../../../test/real/support/rights.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { createNamespace, type Workload } from '../../../../test/real/support/workloads.ts';

export const shipped: Shipped = {
  definition: istioRollout,
  folder: join(import.meta.dirname, '../..'),
};

/** No waiting and no limits but those that a suite sets itself. */
export const eager = {
  ISTIOD_CONFIG_READ_DELAY: '1s',
  COOLDOWN: '0s',
  MAX_IN_FLIGHT: '100',
  MAX_IN_FLIGHT_PER_NAMESPACE: '100',
};

/** For a process that has to find istiod by the name of its Service. */
export const clusterNames = { NODE_OPTIONS: `--require ${join(import.meta.dirname, 'cluster-names.cjs')}` };

/** A cluster that runs workloads, where the function may do what its manifests grant. */
export interface RolloutSite extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
}

export async function openRolloutSite(environment: Environment = {}): Promise<RolloutSite> {
  const cluster = await startCluster({ parts: ['kube-controller-manager', 'kube-scheduler', 'kwok'] });
  const client = createClient(cluster.access);
  await addNodes(cluster, ['node-1']);
  await createNamespace(client, 'istio-system', {});
  await installRights(cluster, shipped, environment);
  return {
    cluster,
    client,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await cluster.stop();
    },
  };
}

/** A clock that stands still between the turns that a test gives it. */
export interface Clock {
  readonly now: () => Date;
  readonly turn: (seconds: number) => void;
}

/** Shows a full hour, which the suite does not live to see: later than anything that the API server puts a time on. */
export function stoppedClock(): Clock {
  const suiteLasts = 1_800_000;
  let time = Math.ceil((Date.now() + suiteLasts) / 3_600_000) * 3_600_000;
  return {
    now: () => new Date(time),
    turn: (seconds) => {
      time += seconds * 1000;
    },
  };
}

/** The function in this process, by its own account, with a clock to turn; that of the API server does not turn along. */
export async function startHere(
  cluster: Cluster,
  { environment, ...given }: { readonly environment: Readonly<Record<string, string>>; now: () => Date; log?: Logger },
): Promise<Running> {
  const kubeconfig = await accountKubeconfig(cluster, { name: istioRollout.name, part: 'events' });
  return startApp(istioRollout, {
    ...given,
    machineNow: () => new Date(),
    access: kubeconfigAccess(readFileSync(kubeconfig, 'utf8')),
    environment: { POD_NAMESPACE: standardInstallation.namespace, ...environment },
  });
}

/** An instance of the function, in whatever process. */
export interface Instance {
  readonly url: URL;
}

export async function tell({ url }: Instance, event: Event): Promise<void> {
  expect((await send(url, binaryEvent(event))).status).toBe(204);
}

export async function tick(instance: Instance): Promise<void> {
  await tell(instance, { type: 'dev.knative.sources.ping' });
}

export async function statusOf({ url }: Instance): Promise<Status> {
  return JSON.parse((await send(url, { method: 'GET', path: '/status' })).body) as Status;
}

/** What the status says of a workload or pod. */
export async function rowOf(
  instance: Instance,
  { kind, name }: Pick<Workload, 'name'> & { readonly kind: string },
): Promise<Status['workloads'][number] | undefined> {
  return (await statusOf(instance)).workloads.find((row) => row.kind === kind && row.name === name);
}

export const statePath = `/api/v1/namespaces/${standardInstallation.namespace}/configmaps/istio-rollout-state`;

/** What the function remembers, whichever instance and however many of them have died. */
export async function stateIn(client: Client): Promise<State> {
  const { data = {} } = expectCode(200, await client.call('GET', statePath)) as { data?: Record<string, string> };
  const entries = Object.entries(data).map(([key, text]) => [key, (JSON.parse(text) as { value: unknown }).value]);
  return { ...emptyState, ...(Object.fromEntries(entries) as Partial<State>) };
}

/** What an Event says, and of whom. */
export interface Told {
  readonly regarding: Pick<Workload, 'kind' | 'namespace' | 'name'>;
  readonly note: string;
}

/** The Events with this reason. */
export async function eventsOf(client: Client, reason: string): Promise<readonly Told[]> {
  const { items = [] } = expectCode(200, await client.call('GET', '/apis/events.k8s.io/v1/events'));
  return items.filter((event) => event.reason === reason) as unknown as readonly Told[];
}

/** The names of what the Events with this reason are about, one for each Event. */
export async function toldOf(client: Client, reason: string): Promise<readonly string[]> {
  return (await eventsOf(client, reason)).map(({ regarding }) => regarding.name);
}

/** Ticks until the function has nothing left to do; what waits for a person or a time of day stays in the queue. */
export async function finish(instance: Instance, betweenTicks?: () => unknown): Promise<void> {
  await waitUntil('nothing is under way', async () => {
    await betweenTicks?.();
    await tick(instance);
    const { pending, counts, workloads } = await statusOf(instance);
    const waiting = workloads.filter(({ code }) => code === 'Paused' || code === 'Window').length;
    return pending === undefined && counts.inflight === 0 && counts.queued <= waiting;
  });
}

/** The rights that the function used, in the words of `grantedTo`. */
export function usedRights(audit: readonly AuditEvent[], environment: Environment): readonly string[] {
  return usedBy(istioRollout, 'events', audit, environment);
}

export function configMapChanged(name: string): Event {
  return { ...changed('v1', 'ConfigMap', name), namespace: 'istio-system' };
}

export function webhooksChanged(name: string): Event {
  return changed('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', name);
}

export function namespaceChanged(name: string): Event {
  return changed('v1', 'Namespace', name);
}

function changed(apiVersion: string, kind: string, name: string): Event {
  return { type: 'dev.knative.apiserver.ref.update', apiVersion, kind, namespace: '', name };
}
