import freezeCheck from '../../index.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { application, cronJob } from '../objects.ts';
import { binaryEvent, send } from '../../../../test/support/http.ts';
import { argoPaths } from '../../../../test/real/support/argo-cd.ts';
import { readAudit } from '../../../../test/real/parts/audit.ts';
import { policies, type FreezeSite } from './freeze-site.ts';
import type { RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { usedBy } from '../../../../test/real/support/rights.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

/** Every feature that asks for a right, and a certificate whose predecessors retire soon. */
export const everything = { API_AUTH_MODE: 'rbac', CA_PROPAGATION_SECONDS: '0', CA_RETIRE_SECONDS: '1' };

const { namespace } = standardInstallation;
const secret = `/api/v1/namespaces/${namespace}/secrets/freeze-check-certificates`;
const apps = '/apis/apps/v1/namespaces/prod';
const kinds = { Deployment: 'deployments', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets', CronJob: 'cronjobs' };
const behavior = {
  suspendCronJobs: true,
  gitops: { enabled: true, providers: ['argocd', 'flux'], argocd: {}, flux: {} },
};

/** A cluster where somebody changes things, the sandbox or a real one. */
export type Changing = Pick<FreezeSite, 'client' | 'freeze' | 'merge' | 'remove'>;

type Half = Pick<RealFunction, 'url'>;

/** One object of each kind that freeze-check asks about or holds. */
export async function makeObjects({ client }: Pick<Changing, 'client'>): Promise<void> {
  const prod = { metadata: { name: 'prod', labels: { env: 'prod' } } };
  const argo = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application' };
  const resting = { metadata: { name: 'web', namespace: 'prod' }, spec: {} };
  const objects = {
    '/api/v1/namespaces': prod,
    [`${apps}/deployments`]: workload({}),
    [`${apps}/statefulsets`]: workload({ serviceName: 'web' }),
    [`${apps}/daemonsets`]: workload({}),
    '/apis/batch/v1/namespaces/prod/cronjobs': cronJob('web'),
    [argoPaths.applications]: { ...argo, ...application('web', { prune: true }) },
    '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/prod/kustomizations': {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      ...resting,
    },
    '/apis/helm.toolkit.fluxcd.io/v2/namespaces/prod/helmreleases': {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      ...resting,
    },
    '/api/v1/namespaces/prod/serviceaccounts': { metadata: { name: 'asker' } },
  };
  for (const [path, body] of Object.entries(objects)) {
    expectCode(201, await client.call('POST', path, { body }));
  }
  await applyManifest(client, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'asker' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'asker', namespace: 'prod' }],
  });
}

function workload(spec: object): object {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
  return { metadata: { name: 'web' }, spec: { ...spec, selector: { matchLabels: labels }, template } };
}

/** A refusal, a scale, a look at each kind of history, a reason, and questions. */
export async function exerciseWebhook(site: Changing, webhook: Half): Promise<void> {
  const target = { kinds: ['Deployment', 'StatefulSet', 'DaemonSet'] };
  await site.freeze('rollback', { target, rules: { deny: ['ROLL_OUT', 'SCALE'], allowRollback: true } });
  const containers = [{ name: 'main', image: 'web:2' }];
  await waitUntil('the webhook is asked', async () => (await change('deployments')).code === 403);
  const replies = [
    await change('statefulsets'),
    await scale('deployments'),
    await scale('statefulsets'),
    await change('deployments', { annotations: { 'freeze-check.kube-reflex.dev/bypass-reason': 'the site is down' } }),
  ];
  expectCodes(
    replies.map(({ code }) => code),
    [403, 403, 403, 200],
  );
  await ask(site, webhook);
  await site.remove(`${policies}/changefreezes/rollback`);

  function change(plural: string, metadata = {}) {
    return site.merge(`${apps}/${plural}/web`, { metadata, spec: { template: { spec: { containers } } } });
  }

  function scale(plural: string) {
    return site.merge(`${apps}/${plural}/web/scale`, { spec: { replicas: 3 } });
  }
}

/** Questions about an object of each kind, by somebody who has to show who they are. */
async function ask({ client }: Pick<Changing, 'client'>, { url }: Half): Promise<void> {
  const path = '/api/v1/namespaces/prod/serviceaccounts/asker/token';
  const { status } = expectCode(201, await client.call('POST', path, { body: { spec: {} } }));
  const headers = { authorization: `Bearer ${(status as { readonly token: string }).token}` };
  const codes: number[] = [];
  for (const kind of Object.keys(kinds)) {
    const query = new URLSearchParams({ namespace: 'prod', kind, action: 'ROLL_OUT', name: 'web' });
    codes.push((await fetch(new URL(`/v1/evaluate?${query.toString()}`, url), { headers })).status);
  }
  expectCodes(codes, [200, 200, 200, 200]);
}

function expectCodes(found: readonly number[], expected: readonly number[]): void {
  if (found.join() !== expected.join()) {
    throw new Error(`expected ${expected.join()}, got ${found.join()}`);
  }
}

/** A freeze that holds an object of each kind and ends, policies that change, and a certificate that does. */
export async function exerciseEvents(site: FreezeSite, events: RealFunction): Promise<void> {
  const { client, cluster, tick } = site;
  await exercisePolicies(site, events);
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  await client.call('PATCH', secret, { ...merge, body: { data: { 'tls.key': '' } } });
  await tick(events); // a new leaf
  await client.call('DELETE', secret);
  await waitUntil('a new authority is old enough to ask whether all replicas show it', async () => {
    await tick(events);
    const used = usedBy(freezeCheck, 'events', readAudit(cluster), everything);
    return used.includes(`list endpointslices.discovery.k8s.io in ${namespace}`);
  });
}

/** The part of it that is about policies. */
export async function exercisePolicies(site: Changing, events: Half): Promise<void> {
  const { client } = site;
  await applyManifest(client, windowNamed('nightly'));
  await applyManifest(client, exceptionNamed('fix'));
  await site.freeze('holiday', { target: { kinds: ['CronJob'] }, behavior });
  await tick();
  for (const [kind, name] of [
    ['ChangeFreeze', 'holiday'],
    ['MaintenanceWindow', 'nightly'],
    ['FreezeException', 'fix'],
  ] as const) {
    await tell({ apiVersion: 'freeze-operator.io/v1alpha1', kind, name });
  }
  await tell({ apiVersion: 'v1', kind: 'Namespace', name: 'prod' });
  await site.remove(`${policies}/changefreezes/holiday`);
  await tick(); // nobody asks for the kinds any more: what is held is read by name
  await ask(site, events);

  async function tick() {
    await send(events.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
  }

  async function tell(about: { readonly apiVersion: string; readonly kind: string; readonly name: string }) {
    await send(events.url, binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...about }));
  }
}

const group = { apiVersion: 'freeze-operator.io/v1alpha1' };
const target = { kinds: ['DaemonSet'] };

function windowNamed(name: string) {
  const windows = [{ name: 'night', schedule: '0 22 * * *', duration: '4h' }];
  const spec = { timezone: 'UTC', mode: 'DenyOutsideWindows', windows, target, rules: { deny: ['SCALE'] } };
  return { ...group, kind: 'MaintenanceWindow', metadata: { name }, spec };
}

function exceptionNamed(name: string) {
  const times = { activeFrom: '2020-01-01T00:00:00Z', activeTo: '2099-01-01T00:00:00Z' };
  return {
    ...group,
    kind: 'FreezeException',
    metadata: { name },
    spec: { ...times, target, allow: ['SCALE'], reason: 'hotfix' },
  };
}
