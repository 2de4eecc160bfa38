import { describe, expect, it } from '@jest/globals';
import jsonPatch from 'fast-json-patch';
import type { KubeObject } from '../../lib/kube/wire.ts';
import type { ConfigMap, Deployment } from '../../lib/kube/resource.ts';
import { planRemoval } from './integration/removal.ts';
import type { DnsObjects, IntegrationOptions } from './integration/types.ts';
import { planInline, planIntegration } from './integration.ts';
import type { Host } from './rule.ts';
import { corefile as kubeadm } from './sandbox/coredns.ts';

const options: IntegrationOptions = {
  configure: true,
  mode: 'auto',
  importPosition: 'first',
  nodeLocal: 'report',
  namespace: 'kube-system',
  rulesConfigMap: 'rules',
  rulesKey: 'dynamic.server',
  maxShards: 4,
  volumeName: 'sync-volume',
  mountPath: '/etc/coredns/custom/sync',
  targets: ['ingress.web.svc.cluster.local.'],
  clusterDomain: 'cluster.local',
  renderMode: 'auto',
};
const line = 'import /etc/coredns/custom/sync/*.server';
const hosts: readonly Host[] = [{ host: 'api.example.com', match: 'exact' }];

function configMap(name: string, data: Record<string, string>): ConfigMap {
  return { metadata: { name, namespace: 'kube-system', resourceVersion: '1' }, data };
}

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;

function deployment(pod: Partial<PodSpec> = {}): Deployment {
  const containers = [{ name: 'coredns', image: 'registry.k8s.io/coredns/coredns:v1.11.1' }];
  return {
    metadata: { name: 'coredns', namespace: 'kube-system', generation: 3, resourceVersion: '1' },
    spec: { replicas: 2, selector: {}, template: { spec: { containers, ...pod } } },
    status: { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
  };
}

const volumeMounts = [{ name: 'sync-volume', mountPath: '/etc/coredns/custom/sync', readOnly: true }];
const volumes = [{ name: 'sync-volume', configMap: { name: 'rules' } }];

function mounted(): Deployment {
  return deployment({ containers: [{ name: 'coredns', volumeMounts }], volumes });
}

function observe(corefile: string, changes: DnsObjects = {}): DnsObjects {
  return { corefile: configMap('coredns', { Corefile: corefile }), deployment: mounted(), ...changes };
}

/** Runs a patch as an API server would. */
function patched<T extends KubeObject>(object: T, step: unknown): T {
  const { operations } = step as { operations: jsonPatch.Operation[] };
  return jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
}

function corefileAfter(
  observed: DnsObjects,
  changes: Partial<IntegrationOptions> = {},
  asked = hosts,
): string | undefined {
  const { steps } = planIntegration(observed, { ...options, ...changes }, asked);
  const found = steps.find(({ component }) => component === 'import_statement');
  return found === undefined || observed.corefile === undefined
    ? undefined
    : patched(observed.corefile, found.step).data?.['Corefile'];
}

function conditionsOf(observed: DnsObjects, changes: Partial<IntegrationOptions> = {}): string[] {
  return planIntegration(observed, { ...options, ...changes }, hosts).conditions.map(({ type }) => type);
}

describe('the import into the Corefile', () => {
  it('goes into the root block, and planning on the result plans nothing', () => {
    const edited = corefileAfter(observe(kubeadm));

    expect(edited).toBe(kubeadm.replace('.:53 {\n', `.:53 {\n    ${line}\n`));
    expect(planIntegration(observe(edited ?? ''), options, hosts)).toMatchObject({
      steps: [],
      conditions: [],
      facts: { mode: 'corefile', imported: true, volume: true, mount: true, shards: 1, redispatch: false },
    });
  });

  it.each([
    ['no root zone', 'example.org {\n    forward . 192.0.2.1\n}\n'],
    ['only another transport', 'tls://.:853 {\n    errors\n}\n'],
    ['nothing', ''],
  ])('CS-29 is not attempted where there is %s', (_, text) => {
    expect(corefileAfter(observe(text))).toBeUndefined();
    expect(conditionsOf(observe(text))).toEqual(['NoEligibleBlock']);
  });

  it('is not attempted in a text that CoreDNS would refuse', () => {
    expect(corefileAfter(observe('. {\n'))).toBeUndefined();
    expect(conditionsOf(observe('. {\n'))).toEqual(['InvalidCorefile']);
  });

  const three =
    'cluster.local {\n  kubernetes\n}\nexample.com {\n  forward . 192.0.2.1\n}\n. {\n  forward . 192.0.2.2\n  reload\n}\n';

  it('CS-31 goes into every block that owns a host, with rules that are looked up anew', () => {
    expect(corefileAfter(observe(three))).toBe(
      three.replace('example.com {\n', `example.com {\n  ${line}\n`).replace('\n. {\n', `\n. {\n  ${line}\n`),
    );
    expect(planIntegration(observe(three), options, hosts).facts).toMatchObject({
      redispatch: true,
    });
  });

  it('CS-31 leaves blocks alone that own no host', () => {
    const elsewhere: readonly Host[] = [{ host: 'api.example.net', match: 'exact' }];

    expect(corefileAfter(observe(three), {}, elsewhere)).toBe(three.replace('\n. {\n', `\n. {\n  ${line}\n`));
  });

  it('CS-31 does not put rules that rewrite where the target can not be resolved', () => {
    expect(corefileAfter(observe(three), { renderMode: 'grouped' })).toBeUndefined();
    expect(conditionsOf(observe(three), { renderMode: 'grouped' })).toContain('NoEligibleBlock');
  });

  it('waits until every pod has the volume', () => {
    const rolling = { ...mounted(), status: { observedGeneration: 2 } };

    expect(corefileAfter(observe(kubeadm, { deployment: rolling }))).toBeUndefined();
    expect(conditionsOf(observe(kubeadm, { deployment: rolling }))).toEqual(['RollingOut']);
  });

  it('CS-48 is only observed when configuring is off', () => {
    const plan = planIntegration(
      observe(kubeadm, { deployment: deployment() }),
      { ...options, configure: false },
      hosts,
    );

    expect(plan.steps).toEqual([]);
    expect(plan.conditions).toMatchObject([{ type: 'NotConfigured' }]);
    expect(plan.conditions[0]?.message).toContain('import, volume, mount');
    expect(plan.facts).toMatchObject({ imported: false, volume: false, mount: false, version: '1.11.1' });
  });

  it('CS-46 is not needed for rules to be written when there is no Corefile', () => {
    expect(conditionsOf({ deployment: deployment() })).toEqual(['NoCorefile']);
    expect(conditionsOf({})).toEqual(['Unsupported']);
    expect(planIntegration({}, options, hosts).facts.placement).toEqual({ kind: 'own' });
  });
});

describe('managed clusters', () => {
  const k3s = `${kubeadm.replace('    loadbalance\n', '    loadbalance\n    import /etc/coredns/custom/*.override\n')}import /etc/coredns/custom/*.server\n`;
  const custom = deployment({
    containers: [{ name: 'coredns', volumeMounts: [{ name: 'custom', mountPath: '/etc/coredns/custom' }] }],
    volumes: [{ name: 'custom', configMap: { name: 'coredns-custom', optional: true } }],
  });

  it.each([
    ['are known when it is not there', {}, undefined],
    ['may hold anything when it may not be read', { customHidden: true }, ['file', 'hosts']],
  ])('files of coredns-custom %s', (_, seen, occupied) => {
    const { facts } = planIntegration(observe(k3s, { deployment: custom, ...seen }), options, hosts);

    expect(facts.occupied).toEqual(occupied);
  });

  it('CS-32 keep the rules under a key of coredns-custom; Corefile and Deployment stay', () => {
    const plan = planIntegration(observe(k3s, { deployment: custom }), options, hosts);

    expect(plan).toMatchObject({
      steps: [],
      conditions: [],
      facts: {
        mode: 'custom-configmap',
        placement: { kind: 'custom', configMap: 'coredns-custom', key: 'coredns-sync.override' },
        imported: true,
      },
    });
  });

  it('stay such when a file that they import beside the blocks has a zone of ours', () => {
    const theirs = configMap('coredns-custom', { 'corp.server': 'example.com:53 {\n    forward . 192.0.2.1\n}\n' });
    const plan = planIntegration(observe(k3s, { deployment: custom, custom: theirs }), options, hosts);

    expect(plan).toMatchObject({ steps: [], facts: { placement: { kind: 'custom' }, redispatch: false } });
  });

  it('are not taken for such when they import beside the blocks only', () => {
    const old = `${kubeadm}import /etc/coredns/custom/*.server\n`;

    expect(planIntegration(observe(old, { deployment: custom }), options, hosts).facts).toMatchObject({
      mode: 'corefile',
      placement: { kind: 'own' },
    });
  });

  it('may say include', () => {
    const outscale = k3s.replace('*.override', '*.include');

    expect(planIntegration(observe(outscale, { deployment: custom }), options, hosts).facts.placement).toMatchObject({
      key: 'coredns-sync.include',
    });
  });
});

describe('the mount', () => {
  function planMounted(live: Deployment): Deployment | undefined {
    const { steps } = planIntegration(observe(kubeadm, { deployment: live }), options, hosts);
    const found = steps.find(({ component }) => component === 'volume_mount');
    return found === undefined ? undefined : patched(live, found.step);
  }

  it('shows every shard there may ever be, whether or not it exists', () => {
    const after = planMounted(deployment());

    expect(after?.spec?.template.spec?.containers[0]?.volumeMounts).toEqual(volumeMounts);
    expect(after?.spec?.template.spec?.volumes).toEqual([
      {
        name: 'sync-volume',
        projected: {
          sources: ['rules', 'rules-1', 'rules-2', 'rules-3'].map((name) => ({ configMap: { name, optional: true } })),
        },
      },
    ]);
    expect(planMounted(after ?? deployment())).toBeUndefined();
  });

  it('CS-36 lets pods start while the ConfigMap is missing', () => {
    const sources = planMounted(deployment())?.spec?.template.spec?.volumes?.[0]?.projected?.sources ?? [];

    expect(sources.length).toBeGreaterThan(0);
    expect(sources.every(({ configMap }) => configMap?.optional === true)).toBe(true);
  });

  it('CS-33 lands in the container of CoreDNS and leaves from there, a sidecar before it stays as it is', () => {
    const sidecar = { name: 'sidecar', volumeMounts: [{ name: 'own', mountPath: '/data' }] };
    const before = deployment({ containers: [sidecar, { name: 'coredns' }], volumes: [{ name: 'own', emptyDir: {} }] });
    const after = planMounted(before);
    const removal = planRemoval({ deployment: after ?? before }, options).find(({ what }) => what === 'mount');

    expect(after?.spec?.template.spec?.containers).toMatchObject([sidecar, { name: 'coredns', volumeMounts }]);
    expect(patched(after ?? before, removal?.step).spec?.template.spec).toEqual({
      containers: [sidecar, { name: 'coredns', volumeMounts: [] }],
      volumes: [{ name: 'own', emptyDir: {} }],
    });
  });

  it('CS-34 is not touched when it is right, also as another made it', () => {
    expect(planMounted(mounted())).toBeUndefined();
  });

  it('finds the container by its arguments', () => {
    const renamed = deployment({
      containers: [{ name: 'a' }, { name: 'dns', args: ['-conf', '/etc/coredns/Corefile'] }],
    });

    expect(planMounted(renamed)?.spec?.template.spec?.containers[1]).toMatchObject({ volumeMounts });
  });

  it('grows with MAX_SHARDS', () => {
    const small = planIntegration(observe(kubeadm, { deployment: deployment() }), { ...options, maxShards: 2 }, hosts);
    const live = patched(deployment(), small.steps[0]?.step);

    expect(planMounted(live)?.spec?.template.spec?.volumes?.[0]?.projected?.sources).toHaveLength(4);
  });

  it.each([
    [
      'the path belongs to another volume',
      { containers: [{ name: 'coredns', volumeMounts: [{ name: 'x', mountPath: '/etc/coredns/custom/sync/' }] }] },
      {},
    ],
    ['the volume shows something else', { volumes: [{ name: 'sync-volume', emptyDir: {} }] }, {}],
    ['the path would hide the Corefile', {}, { mountPath: '/etc/coredns' }],
    ['the path is above the Corefile', {}, { mountPath: '/etc' }],
    ['no container is that of CoreDNS', { containers: [{ name: 'a' }, { name: 'b' }] }, {}],
  ])('CS-35 is refused when %s', (_, pod, changes) => {
    const plan = planIntegration(observe(kubeadm, { deployment: deployment(pod) }), { ...options, ...changes }, hosts);

    expect(plan.steps).toEqual([]);
    expect(plan.conditions).toMatchObject([{ type: 'MountConflict' }]);
  });
});

describe('NodeLocal DNSCache', () => {
  const nodeLocal = configMap('node-local-dns', {});
  const service = { spec: { clusterIP: '10.96.0.10' } };

  it('CS-52 is reported', () => {
    expect(conditionsOf(observe(kubeadm, { nodeLocal }))).toEqual(['BypassedByNodeLocal']);
  });

  it('is told to ask CoreDNS for the domains of the hosts, beside what others told it', () => {
    const others = configMap('kube-dns', { stubDomains: '{"corp.test":["192.0.2.9"]}' });
    const observed = observe(kubeadm, { nodeLocal, kubeDns: { configMap: others, service } });
    const asked: readonly Host[] = [
      ...hosts,
      { host: 'x.corp.test', match: 'exact' },
      { host: 'deep.example.com', match: 'label' },
    ];
    const plan = planIntegration(observed, { ...options, nodeLocal: 'stubdomains' }, asked);
    const step = plan.steps.find(({ component }) => component === 'stub_domains')?.step;
    const after = patched(others, step);

    expect(JSON.parse(after.data?.['stubDomains'] ?? '')).toEqual({
      'corp.test': ['192.0.2.9'],
      'example.com': ['10.96.0.10'],
    });
    const again = planIntegration(
      { ...observed, kubeDns: { configMap: after, service } },
      { ...options, nodeLocal: 'stubdomains' },
      asked,
    );
    expect(again.steps.map(({ component }) => component)).toEqual(['import_statement']);
    const removal = planRemoval({ kubeDns: { configMap: after } }, options).find(({ what }) => what === 'stub domains');
    expect(JSON.parse(patched(after, removal?.step).data?.['stubDomains'] ?? '')).toEqual({
      'corp.test': ['192.0.2.9'],
    });
  });

  it('is left alone when its stub domains can not be read', () => {
    const broken = configMap('kube-dns', { stubDomains: '[' });
    const plan = planIntegration(
      observe(kubeadm, { nodeLocal, kubeDns: { configMap: broken, service } }),
      { ...options, nodeLocal: 'stubdomains' },
      hosts,
    );

    expect(plan.conditions).toMatchObject([{ type: 'BypassedByNodeLocal' }]);
  });
});

describe('cleanup', () => {
  it('takes back the import, the mount and the custom key, and finds nothing the second time', () => {
    const custom = configMap('coredns-custom', { 'coredns-sync.override': 'x', 'mine.override': 'y' });
    const corefile = configMap('coredns', { Corefile: corefileAfter(observe(kubeadm)) ?? '' });
    const removals = planRemoval({ corefile, deployment: mounted(), custom }, options);
    const [text, key, mount] = removals.map(({ step }) => step);
    const after = {
      corefile: patched(corefile, text),
      custom: patched(custom, key),
      deployment: patched(mounted(), mount),
    };

    expect(after.corefile.data).toEqual({ Corefile: kubeadm });
    expect(after.custom.data).toEqual({ 'mine.override': 'y' });
    expect(after.deployment.spec?.template.spec?.volumes).toEqual([]);
    expect(planRemoval(after, options).map(({ step }) => step)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('rules inside the Corefile', () => {
  it('are put into the root block and change only when the rules do', () => {
    const inline = { ...options, mode: 'inline' } as const;
    const rules = { hosts, text: 'rewrite name exact api.example.com ingress.web.svc.cluster.local.\n' };
    const observed = observe(kubeadm, { deployment: deployment() });
    const [planned] = planInline(observed, inline, rules).steps;
    const corefile = patched(configMap('coredns', { Corefile: kubeadm }), planned?.step);

    expect(corefile.data?.['Corefile']).toContain(rules.text);
    expect(planInline({ ...observed, corefile }, inline, rules).steps).toEqual([]);
    expect(planIntegration({ ...observed, corefile }, inline, hosts)).toMatchObject({
      steps: [],
      facts: { mode: 'inline', placement: { kind: 'inline' }, imported: true },
    });
  });
});
