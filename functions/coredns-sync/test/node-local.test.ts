import { describe, expect, it } from '@jest/globals';
import { configMaps, daemonSets } from '../../../lib/kube/model/resource.ts';
import { openWorld } from './world.ts';
import { planIntegration } from '../integration/plan.ts';
import { planRemoval } from '../integration/removal.ts';
import type { Host } from '../rule.ts';
import { corefile as kubeadm } from '../sandbox/coredns.ts';
import { conditionsOf, configMap, hosts, observe, options, patched } from '../testing/integration.ts';

describe('NodeLocal DNSCache', () => {
  const nodeLocal = configMap('node-local-dns', {});
  const service = { spec: { clusterIP: '10.96.0.10' } };
  const labels = { 'k8s-app': 'node-local-dns' };
  const spec = { containers: [{ name: 'node-cache', image: 'node-cache' }] };

  it('CS-52 is reported', () => {
    expect(conditionsOf(observe(kubeadm, { nodeLocal }))).toEqual(['BypassedByNodeLocal']);
  });

  it.each([
    ['ConfigMap', configMaps, {}],
    [
      'DaemonSet',
      daemonSets,
      { spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } } },
    ],
  ])('CS-52 is reported where the cluster has its %s', async (_kind, resource, fields) => {
    await using world = await openWorld();
    await world.tick();
    const before = world.conditions();
    const metadata = { name: 'node-local-dns', namespace: 'kube-system' };
    await world.sandbox.api.create(resource, { metadata, ...fields });

    expect(await world.tick()).toBe(204);
    expect(before).not.toHaveProperty('BypassedByNodeLocal');
    expect(world.conditions()).toHaveProperty('BypassedByNodeLocal');
  });

  it('CS-48 is told nothing where configuring is off', () => {
    const kubeDns = { configMap: configMap('kube-dns', {}), service };
    const settings = { ...options, nodeLocal: 'stubdomains' } as const;
    const observed = observe(kubeadm, { nodeLocal, kubeDns });

    expect(planIntegration(observed, settings, hosts).steps.map(({ component }) => component)).toContain(
      'stub_domains',
    );
    expect(planIntegration(observed, { ...settings, configure: false }, hosts).steps).toEqual([]);
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
