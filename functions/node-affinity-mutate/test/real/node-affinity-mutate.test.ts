import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ourTerm, pool, poolKey } from '../../testing/pods.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import type { Body } from '../../../../lib/sandbox/test/contract/client.ts';
import { startHookServer } from '../../../../lib/sandbox/test/contract/hook-server.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { callsOf, settledAudit, type AuditEvent } from '../../../../test/real/parts/audit.ts';
import { installRights, usernameOf, type RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest } from '../../../../test/support/manifests.ts';
import { affinityOf, managed, openAffinitySite, shipped, unmanaged, type AffinitySite } from './node-affinity-site.ts';
import { everything, exercise } from './node-affinity-rights.ts';
import { grantedTo, usedBy } from '../../../../test/real/support/rights.ts';
import { waitFor } from '../../../../test/real/parts/wait.ts';

const patience = 300_000;
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution';
const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution';
const decisions = 'kube_reflex_node_affinity_mutate_admission_requests_total';
const zoneTerm = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] };

describe('node-affinity-mutate on the real API server', () => {
  const running = new AsyncDisposableStack();
  let site: AffinitySite;
  let webhook: RealFunction;
  let events: RealFunction;

  beforeAll(async () => {
    site = running.use(await openAffinitySite());
    await site.register();
    webhook = await site.startWebhook();
    events = await site.startEvents(1);
    expect(await site.tick(events)).toBe(204);
    await site.untilPreferred(true);
  }, patience);

  afterAll(() => running.disposeAsync());

  it('NA-1 the scheduler really prefers the pool', async () => {
    const preferring = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => nodeOf(name, managed)));
    const free = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => nodeOf(name, unmanaged)));

    expect(new Set(preferring)).toEqual(new Set(['pool-1']));
    expect(free.filter((node) => node === 'pool-1').length).toBeLessThan(free.length);
  });

  it.each([
    ['NA-2', { affinity: {} }, [ourTerm]],
    ['NA-3', { affinity: null }, [ourTerm]],
    ['NA-5', { affinity: { nodeAffinity: {} } }, [ourTerm]],
    ['NA-6', { affinity: { nodeAffinity: { [preferredField]: null } } }, [ourTerm]],
    ['NA-6', { affinity: { nodeAffinity: { [preferredField]: [] } } }, [ourTerm]],
    ['NA-7', { affinity: { nodeAffinity: { [requiredField]: { nodeSelectorTerms: [zoneTerm] } } } }, [ourTerm]],
    [
      'NA-8',
      { affinity: { nodeAffinity: { [preferredField]: [{ weight: 100, preference: zoneTerm }] } } },
      [{ weight: 100, preference: zoneTerm }, ourTerm],
    ],
    ['NA-9', { affinity: { nodeAffinity: { [preferredField]: [withWeight(50)] } } }, [withWeight(50)]],
  ])('%s the API server takes the patch of %j', async (name, spec, expected) => {
    const { body } = await site.createPod({ name: name.toLowerCase(), spec, dryRun: true });

    const { affinity } = body.spec as { affinity: { nodeAffinity: Record<string, unknown> } };
    expect(affinity.nodeAffinity[preferredField]).toEqual(expected);
  });

  it('NA-24 a dry run shows the same pod and stores nothing', async () => {
    const dry = await site.createPod({ name: 'dry', dryRun: true });

    expect(affinityOf(dry.body)).toContain('cpu-worker-0');
    expect((await site.client.call('GET', `/api/v1/namespaces/${managed}/pods/dry`)).code).toBe(404);
  });

  it('NA-63 numbers beyond 2^53 arrive as they were sent', async () => {
    const { body, text } = await site.createPod({
      name: 'large',
      spec: { securityContext: { runAsUser: 2_147_483_647 }, activeDeadlineSeconds: 2_147_483_647 },
      metadata: { annotations: { number: '9007199254740993' } },
      dryRun: true,
    });

    expect(affinityOf(body)).toContain('cpu-worker-0');
    expect(text).toContain('"number":"9007199254740993"');
    expect(body.spec).toMatchObject({ activeDeadlineSeconds: 2_147_483_647 });
  });

  it('NA-12 asked again after somebody else changed the pod, it adds nothing', async () => {
    const hooks = await startHookServer('hooks');
    hooks.on('/', ({ object }) => ({
      patch:
        object?.metadata?.labels === undefined ? [{ op: 'add', path: '/metadata/labels', value: { by: 'x' } }] : [],
    }));
    const name = 'zz-later';
    await applyManifest(site.client, foreignWebhook(name, `${hooks.url}/`, hooks.caBundle));
    const before = await webhook.metric(decisions, { reason: 'already-present' });

    const pod = await waitFor('a pod that both changed', async () => {
      const { body } = await site.createPod({ name: 'reinvoked', dryRun: true });
      return body.metadata?.labels?.['by'] === 'x' ? body : undefined;
    });
    await site.client.call('DELETE', `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`);
    await hooks.close();

    expect(termsOf(pod)).toEqual([ourTerm]);
    expect(await webhook.metric(decisions, { reason: 'already-present' })).toBeGreaterThan(before);
  });

  it('while it is down pods are created as they are, and again with the preference when it is back', async () => {
    await webhook.running.stop();
    const started = performance.now();
    const down = await site.createPod({ name: 'while-down' });
    const seconds = (performance.now() - started) / 1000;
    webhook = await site.startWebhook();
    await site.untilPreferred(true);

    expect([down.code, affinityOf(down.body)]).toEqual([201, undefined]);
    expect(seconds).toBeLessThan(20); // the limit of 3 s, on busy machines
  });

  it('an hour at rest, which is twelve ticks, writes nothing and reads six objects and lists at each', async () => {
    const { length: before } = await settledAudit(site.cluster, site.client);

    for (let ticks = 0; ticks < 12; ticks += 1) {
      expect(await site.tick(events)).toBe(204);
    }

    const audit = (await settledAudit(site.cluster, site.client)).slice(before);
    expect(callsOf(usernameOf('node-affinity-mutate', 'events'), audit)).toEqual({
      'get configmaps': 24,
      'get mutatingwebhookconfigurations': 12,
      'get secrets': 12,
      'list namespaces': 12,
      'list nodes': 12,
    });
    expect(writesOf(audit)).toEqual([]);
  });

  it(
    'a MutatingAdmissionPolicy of the same rules gives byte-equal affinity, and the webhook finds it done',
    async () => {
      const shapes = [
        {},
        { affinity: { podAntiAffinity: {} } },
        { tolerations: [{ key: 'fast', operator: 'Exists', effect: 'NoSchedule' }] },
        { affinity: { nodeAffinity: { [preferredField]: [{ weight: 7, preference: zoneTerm }] } } },
        { affinity: { nodeAffinity: { [preferredField]: [withWeight(50)] } } },
        { affinity: { nodeAffinity: { [requiredField]: { nodeSelectorTerms: [zoneTerm] } } } },
      ];
      await applyManifest(site.client, rulesConfigMap());
      expect(await site.tick(events)).toBe(204);
      const byWebhook = await waitFor('the webhook knows the rules', async () => {
        const found = await affinities(shapes);
        return found.every((each) => each.includes('kubernetes.io/hostname')) ? found : undefined;
      });
      await installRights(site.cluster, shipped, { POLICY: 'true' });
      await events.running.stop();
      events = await site.startEvents(2, { POLICY: 'true' });
      expect(await site.tick(events)).toBe(204);
      const both = await waitFor('the policy acts before the webhook', async () => {
        const before = await webhook.metric(decisions, { reason: 'already-present' });
        const { body } = await site.createPod({ name: 'both', dryRun: true });
        const after = await webhook.metric(decisions, { reason: 'already-present' });
        return after > before ? body : undefined;
      });
      await site.unregister();
      const byPolicy = await waitFor('the webhook is asked no more', async () => {
        const before = await webhook.metric(decisions);
        const found = await affinities(shapes);
        return (await webhook.metric(decisions)) === before ? found : undefined;
      });

      expect(byPolicy).toEqual(byWebhook);
      expect(placementOf(both)).toBe(byWebhook[0]);
      const writes = writesOf(await settledAudit(site.cluster, site.client)).length;
      expect(await site.tick(events)).toBe(204);
      expect(writesOf(await settledAudit(site.cluster, site.client)).length).toBe(writes);
    },
    patience,
  );

  it(
    'with every feature on, each half was granted exactly what it used, and refused nothing',
    async () => {
      await installRights(site.cluster, shipped, everything);
      await site.register();
      await events.running.stop();
      events = await site.startEvents(3, everything);
      await exercise(site, events);

      const audit = await settledAudit(site.cluster, site.client);
      const forbidden = audit.filter(({ responseStatus }) => responseStatus?.code === 403);
      expect(forbidden.map(({ user, verb, requestURI }) => [user.username, verb, requestURI])).toEqual([]);
      expect(usedBy(shipped.definition, 'events', audit, everything)).toEqual(
        grantedTo(shipped.definition, 'events', everything),
      );
      expect(usedBy(shipped.definition, 'webhook', audit, everything)).toEqual(
        grantedTo(shipped.definition, 'webhook', everything),
      );
    },
    patience,
  );

  async function affinities(specs: readonly object[]): Promise<string[]> {
    const pods = specs.map((spec, index) => site.createPod({ name: `shape-${index}`, spec, dryRun: true }));
    return (await Promise.all(pods)).map((reply) => placementOf(expectCode(201, reply)));
  }

  /** Where the scheduler puts a new pod. */
  async function nodeOf(name: string, namespace: string): Promise<string> {
    expectCode(201, await site.createPod({ name, namespace }));
    return waitFor(`${namespace}/${name} has a node`, async () => {
      const { body } = await site.client.call('GET', `/api/v1/namespaces/${namespace}/pods/${name}`);
      return (body.spec as { nodeName?: string }).nodeName;
    });
  }

  function writesOf(audit: readonly AuditEvent[]): readonly AuditEvent[] {
    const accounts = new Set(['events', 'webhook'].map((part) => usernameOf('node-affinity-mutate', part as 'events')));
    const writing = new Set(['create', 'patch', 'update', 'delete']);
    return audit.filter(({ user, verb }) => accounts.has(user.username) && writing.has(verb));
  }
});

function termsOf({ spec }: Body): unknown {
  return (spec as { affinity?: { nodeAffinity?: Record<string, unknown> } }).affinity?.nodeAffinity?.[preferredField];
}

/** Two preferences and a toleration. */
function rulesConfigMap() {
  const rules = [
    {
      name: 'pool',
      pool: { key: poolKey, values: [pool] },
      tolerations: [{ key: 'fast', operator: 'Exists', effect: 'NoSchedule' }],
    },
    {
      name: 'named',
      term: { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Exists' }] },
      weight: 3,
      match: { excludePodLabels: { app: 'db' }, namespaces: ['man*'] },
    },
  ];
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'node-affinity-mutate', namespace: standardInstallation.namespace },
    data: { 'rules.yaml': JSON.stringify(rules) },
  };
}

/** All that decides where a pod goes, as the API server prints it. */
function placementOf({ spec }: Body): string {
  const { affinity, tolerations } = spec ?? {};
  return JSON.stringify({ affinity, tolerations });
}

function withWeight(weight: number): object {
  return { ...ourTerm, weight };
}

/** Somebody else's webhook, asked after ours. */
function foreignWebhook(name: string, url: string, caBundle: string) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'labels.example.com',
        clientConfig: { url, caBundle },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': managed } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        reinvocationPolicy: 'Never',
      },
    ],
  };
}
