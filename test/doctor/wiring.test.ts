import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isHealthy } from '../../lib/runtime/doctor/finding.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { knative, renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { labelsOf } from '../../lib/function/names.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';
import definition from '../functions/host-census/index.ts';
import { behind, certificates, certify, install, standIns, withCondition } from './installation.ts';
import { openCluster, type Cluster, type Looking } from './patient.ts';

const { namespace } = standardInstallation;
const shared = renderShared([definition]);
const manifests = [...renderFunction(definition, standardInstallation, { platform: knative }).manifests, ...shared];

function shipped(kind: string, name = /./): Manifest {
  const found = manifests.find((each) => each.kind === kind && name.test(each.metadata.name));
  if (found === undefined) {
    throw new Error(`no ${kind} is shipped`);
  }
  return found;
}

function withSpec(manifest: Manifest, change: object): Manifest {
  return { ...manifest, spec: { ...(manifest['spec'] as object), ...change } };
}

const pod: Manifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'host-census-1', namespace, labels: labelsOf('host-census', 'events') },
  spec: { containers: [{ name: 'function', image: 'kube-reflex' }], serviceAccountName: 'host-census' },
};

/** What a pod of the function says of itself, by how many minutes ago something was. */
function metrics(minutes: { readonly tick?: number; readonly success?: number }): string {
  const label = '{function="host-census"}';
  const lines = [`process_start_time_seconds ${secondsAgo(600)}`];
  return [
    ...lines,
    ...(minutes.tick === undefined
      ? []
      : [`kube_reflex_last_tick_timestamp_seconds${label} ${secondsAgo(minutes.tick)}`]),
    ...(minutes.success === undefined
      ? []
      : [`kube_reflex_last_success_timestamp_seconds${label} ${secondsAgo(minutes.success)}`]),
  ].join('\n');
}

function secondsAgo(minutes: number): number {
  return Date.now() / 1000 - minutes * 60;
}

let cluster: Cluster;

beforeEach(async () => {
  cluster = await openCluster();
  for (const crd of standIns(manifests)) {
    await cluster.apply(crd);
  }
  await install(cluster, manifests);
  await cluster.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'host-census', namespace } });
  await cluster.apply(pod);
  await cluster.apply({ ...pod, status: { phase: 'Running' } }, 'status');
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

const well = { tick: 1, success: 1 };

interface Break {
  readonly what: string;
  readonly spoil?: (cluster: Cluster) => Promise<unknown>;
  readonly pulse?: Parameters<typeof metrics>[0];
  readonly list?: Looking['list'];
  /** The one row that turns bad. */
  readonly row: { readonly check: string | RegExp; readonly state?: 'warning'; readonly message: string | RegExp };
}

const source = shipped('ApiServerSource', /own|host-census/);
const watching = shared.find(({ kind }) => kind === 'ApiServerSource') ?? source;
const trigger = shipped('Trigger');

function refuse({ faults }: Cluster['sandbox'], resource: string, status: 429 | 500): Promise<void> {
  faults.add({ resource, effect: { do: 'refuse', status, message: 'too busy' } });
  return Promise.resolve();
}

const breaks: readonly Break[] = [
  {
    what: 'a source that is not ready',
    spoil: ({ apply }) =>
      apply(
        withCondition(source, { type: 'Ready', status: 'False', reason: 'NotFound', message: 'no such Broker' }),
        'status',
      ),
    row: { check: `ApiServerSource ${source.metadata.name}`, message: 'it is not Ready: NotFound, no such Broker' },
  },
  {
    what: 'a source that does not watch a kind',
    spoil: ({ apply }) => apply(withSpec(watching, { resources: [{ apiVersion: 'v1', kind: 'Namespace' }] })),
    row: {
      check: `ApiServerSource ${watching.metadata.name}`,
      message: 'spec.resources is not what the function needs',
    },
  },
  {
    what: 'a source that is not there',
    spoil: ({ remove }) => remove(source),
    row: { check: `ApiServerSource ${source.metadata.name}`, message: 'it is not there' },
  },
  {
    what: 'a Trigger whose filter does not match',
    spoil: ({ apply }) => apply(withSpec(trigger, { filters: [{ exact: { kind: 'Nothing' } }] })),
    row: { check: `Trigger ${trigger.metadata.name}`, message: 'spec.filters is not what the function needs' },
  },
  {
    what: 'a Trigger without delivery settings',
    spoil: ({ apply }) => apply(withSpec(trigger, { delivery: undefined })),
    row: {
      check: `Trigger ${trigger.metadata.name}`,
      state: 'warning',
      message: /retry, backoffDelay, deadLetterSink/,
    },
  },
  {
    what: 'a right that is missing',
    spoil: ({ remove }) => remove(shipped('ClusterRoleBinding', /^kube-reflex-host-census$/)),
    row: { check: 'rights of host-census', message: /it may not list ingresses\.networking\.k8s\.io/ },
  },
  {
    what: 'a CA that is out of sync',
    spoil: async ({ apply }) => {
      const [{ ca }, own] = await Promise.all([certificates(), certificates()]);
      await certify({ apply }, manifests, { ...own, ca });
    },
    row: { check: /^certificate for /, message: 'no certificate in caBundle vouches for the one in tls.crt' },
  },
  {
    what: 'a webhook that nobody answers',
    spoil: ({ apply }) => apply({ ...behind, endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }] }),
    row: {
      check: 'replicas of host-census-webhook',
      message: 'the Service leads to no ready pod: everything passes unasked',
    },
  },
  {
    what: 'a webhook without pods, whose endpoints the API server writes as null',
    list: { plural: 'endpointslices', items: [{ ...behind, endpoints: null, ports: null }] }, // Go's empty list
    row: {
      check: 'replicas of host-census-webhook',
      message: 'the Service leads to no ready pod: everything passes unasked',
    },
  },
  {
    what: 'ticks that have ceased',
    pulse: { tick: 40, success: 1 },
    row: { check: 'ticks', message: 'none since 40 minutes ago' },
  },
  {
    what: 'no success',
    pulse: { tick: 1, success: 40 },
    row: {
      check: 'last success',
      message: /pod host-census-1 gets ticks and fails: its last success was 40 minutes ago/,
    },
  },
  {
    what: 'a kind that the cluster lost with Knative',
    spoil: async ({ remove }) => {
      const [kind] = standIns(manifests.filter((each) => each.kind === 'PingSource'));
      await remove(kind ?? trigger);
    },
    row: { check: /^PingSource /, message: 'the cluster has no kind PingSource of sources.knative.dev' },
  },
  {
    what: 'an API server that is overloaded',
    spoil: ({ sandbox }) => refuse(sandbox, 'endpointslices', 429),
    row: { check: 'replicas of host-census-webhook', message: /too busy/ },
  },
  {
    what: 'an API server that fails to read',
    spoil: ({ sandbox }) => refuse(sandbox, 'secrets', 500),
    row: { check: /^certificate of /, message: /too busy/ },
  },
  {
    what: 'an API server that breaks off instead of an answer',
    spoil: ({ sandbox }) => {
      sandbox.faults.add({ resource: 'secrets', effect: { do: 'cut', when: 'before' } });
      return Promise.resolve();
    },
    row: { check: /^certificate of /, message: /^could not GET .*\/secrets\/.*: / },
  },
];

describe('the doctor of a function on Knative', () => {
  it('finds no problem when all is well', async () => {
    const findings = await cluster.findings({ metrics: { 'host-census-1': metrics(well) } });

    expect(new Set(findings.map(({ state }) => state))).toEqual(new Set(['ok']));
    expect(isHealthy(findings)).toBe(true);
  });

  it('goes by the clock of the cluster, whatever the one of a laptop shows', async () => {
    const now = new Date(Date.now() + 7 * 86_400_000);
    const findings = await cluster.findings({ now, metrics: { 'host-census-1': metrics(well) } });

    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  });

  it('does not take a pod that was scaled down for ticks that have ceased', async () => {
    const findings = await cluster.findings({ metrics: { 'host-census-1': metrics({ tick: 14, success: 14 }) } });

    expect(findings).toContainEqual(expect.objectContaining({ check: 'ticks', state: 'ok' }));
  });

  it.each(breaks)(
    'reports $what in one row, says what to do, and fails a script unless it is a warning',
    async (given) => {
      await given.spoil?.(cluster);

      const findings = await cluster.findings({
        metrics: { 'host-census-1': metrics(given.pulse ?? well) },
        ...(given.list === undefined ? {} : { list: given.list }),
      });

      const { check, message, state = 'error' } = given.row;
      expect(findings.filter((each) => each.state !== 'ok')).toEqual([
        {
          function: 'host-census',
          check: expect.stringMatching(check),
          state,
          message: expect.stringMatching(message),
          fix: expect.stringMatching(/./),
        },
      ]);
      expect(isHealthy(findings)).toBe(state === 'warning');
    },
  );

  it('reports a pod that hangs, and checks everything else', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const server = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    const hung = createTransport(() => Promise.resolve({ server, tls: {}, headers: {} }), { deadlineMs: 50 });

    const findings = await cluster.findings({ metrics: { 'host-census-1': hung.send } });
    hung.close();
    silent.close();

    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      expect.objectContaining({
        check: 'last success',
        state: 'error',
        message: expect.stringMatching(/^pod host-census-1 does not answer: .*no answer in time/),
        fix: expect.stringContaining(`kubectl -n ${namespace} logs host-census-1`),
      }),
    ]);
    expect(findings.length).toBeGreaterThan(5);
  });

  it('is content with a shared source that watches more than it needs', async () => {
    const more = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' };
    const { resources } = watching['spec'] as { readonly resources: readonly object[] };
    await cluster.apply(withSpec(watching, { resources: [...resources, more] }));

    expect(await cluster.problems()).toEqual([]);
  });

  it('does not judge what somebody may not look at, and says how to see it', async () => {
    const findings = await cluster.findings({ user: 'guest' });

    expect(findings).toEqual([
      expect.objectContaining({
        check: 'installation',
        state: 'unknown',
        message: expect.stringContaining('guest'),
        fix: 'look as somebody who has this right',
      }),
    ]);
    expect(isHealthy(findings)).toBe(true);
  });

  it('judges what somebody may look at, and leaves the rest open', async () => {
    const reader = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reader' } };
    const rules = [{ apiGroups: ['serving.knative.dev', 'eventing.knative.dev'], resources: ['*'], verbs: ['get'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'guest' }];
    await cluster.apply({ ...reader, kind: 'ClusterRole', rules });
    await cluster.apply({ ...reader, kind: 'ClusterRoleBinding', roleRef, subjects });

    const findings = await cluster.findings({ user: 'guest' });

    const open = findings.filter(({ state }) => state === 'unknown');
    expect(findings.filter(({ state }) => state === 'ok').map(({ check }) => check)).toContain(
      `Trigger ${trigger.metadata.name}`,
    );
    expect(open.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['rights of host-census', 'replicas of host-census-webhook', 'last success']),
    );
    expect(open.every(({ fix = '' }) => fix !== '')).toBe(true);
    expect(isHealthy(findings)).toBe(true);
  });
});
