import { describe, expect, it } from '@jest/globals';
import { planInline, planIntegration } from './plan.ts';
import { planRemoval } from './removal.ts';
import type { Host } from '../rule.ts';
import { corefile as kubeadm } from '../sandbox/coredns.ts';
import {
  conditionsOf,
  configMap,
  corefileAfter,
  deployment,
  hosts,
  line,
  mounted,
  observe,
  options,
  patched,
} from '../testing/integration.ts';

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

  it('CS-27 CS-48 is missed where only another block has it', () => {
    const text = `example.org {\n    ${line}\n}\n${kubeadm}`;
    const plan = planIntegration(observe(text), { ...options, configure: false }, hosts);

    expect(plan).toMatchObject({ steps: [], facts: { imported: false }, conditions: [{ type: 'NotConfigured' }] });
    expect(plan.conditions[0]?.message).toContain('lacks the import;');
  });

  it('CS-35 says that the mount path is taken, whether it may configure or not', () => {
    const theirs = deployment({
      containers: [{ name: 'coredns', volumeMounts: [{ name: 'theirs', mountPath: '/etc/coredns/custom/sync/' }] }],
    });

    expect(conditionsOf(observe(kubeadm, { deployment: theirs }), { configure: false })).toContain('MountConflict');
    expect(conditionsOf(observe(kubeadm, { deployment: theirs }))).toContain('MountConflict');
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

  it.each([
    [
      'has no rules',
      undefined,
      false,
      'the rules are not in the key coredns-sync.override of the ConfigMap coredns-custom',
    ],
    ['has old ones', { 'coredns-sync.override': '' }, true, 'nobody keeps the rules in the key coredns-sync.override'],
  ])('say so where they may not be configured and coredns-custom %s', (_, data, imported, message) => {
    const observed = observe(k3s, { deployment: custom, custom: configMap('coredns-custom', data ?? {}) });
    const plan = planIntegration(observed, { ...options, configure: false }, hosts);

    expect(plan).toMatchObject({ steps: [], facts: { imported }, conditions: [{ type: 'NotConfigured' }] });
    expect(plan.conditions[0]?.message).toContain(message);
  });

  it('have nothing to complain of where somebody mounted and imported the rules by hand', () => {
    const byHand = k3s.replace('.:53 {\n', `.:53 {\n    ${line}\n`);
    const plan = planIntegration(observe(byHand), { ...options, configure: false }, hosts);

    expect(plan).toMatchObject({ conditions: [], facts: { placement: { kind: 'own' }, imported: true } });
  });

  it('may say include', () => {
    const outscale = k3s.replace('*.override', '*.include');

    expect(planIntegration(observe(outscale, { deployment: custom }), options, hosts).facts.placement).toMatchObject({
      key: 'coredns-sync.include',
    });
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
  it('are missed where they may not be put there', () => {
    const plan = planIntegration(observe(kubeadm), { ...options, mode: 'inline', configure: false }, hosts);

    expect(plan).toMatchObject({ steps: [], facts: { imported: false }, conditions: [{ type: 'NotConfigured' }] });
  });

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
