import { afterEach, describe, expect, it } from '@jest/globals';
import { creating, podWith } from '../testing/pods.ts';
import { configMaps } from '../../../lib/kube/model/resource.ts';
import { openWorld, type World } from './world.ts';

let world: World;

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe('rules in the ConfigMap', () => {
  const rules = `
- name: fast
  match: { podSelector: { matchLabels: { app: web } } }
  pool: { key: speed, values: [high] }
  weight: 50
  tolerations: [{ key: fast, operator: Exists }]
`;
  const values = Array.from({ length: 100 }, (_, index) => String(index).padStart(63, '0'));
  const aliased = [
    `- { name: rule, pool: &long { key: speed, values: ${JSON.stringify(values)} } }`,
    ...values.slice(0, 60).map((_, index) => `- { name: rule-${index}, pool: *long }`),
  ].join('\n');

  it('take the place of the settings', async () => {
    world = await openWorld();
    await world.addNode('fast', { speed: 'high' });
    await world.writeRules(rules);

    await world.tell('ConfigMap', 'node-affinity-mutate');

    const web = await world.decisionFor(creating(podWith({}, { labels: { app: 'web' } })));
    const other = await world.decisionFor(creating(podWith()));
    expect(web.auditAnnotations).toEqual({ decision: 'mutated', rule: 'fast' });
    expect(other.auditAnnotations).toEqual({ decision: 'no-rule' });
    expect(await world.metric('config_valid')).toBe(1);
  });

  it.each([
    ['weight 0', 'weight: 50', 'weight: 0', 'rules.yaml: [0].weight must be a whole number from 1 to 100'],
    ['a bad key', 'key: speed', 'key: "sp eed"', 'rules.yaml: [0].pool.key must be a label key'],
    ['an unknown operator', 'operator: Exists', 'operator: Is', 'rules.yaml: [0].tolerations[0].operator'],
    ['an unknown field', 'weight: 50', 'wieght: 50', 'rules.yaml: [0] must not have the field "wieght"'],
    ['no YAML', 'weight: 50', 'weight: {', 'rules.yaml: '],
    [
      'an asterisk without quotes',
      'match: {',
      'match: { namespaces: [*-prod],',
      '-prod (quote a text that begins with *)',
    ],
    ['a text that aliases make too long', rules, aliased, 'rules.yaml: must not be longer than 262144 characters'],
    ['very much wrong', rules, '- {}\n'.repeat(100), 'rules.yaml: [0].name must be given'],
  ])('NA-61 with %s the last good ones stay, and the field is named', async (_what, good, bad, problem) => {
    world = await openWorld();
    await world.addNode('fast', { speed: 'high' });
    await world.writeRules(rules);
    await world.tick();

    await world.writeRules(rules.replace(good, bad));
    const { status } = await world.tell('ConfigMap', 'node-affinity-mutate');
    await world.tick();

    const web = await world.decisionFor(creating(podWith({}, { labels: { app: 'web' } })));
    const told = world.sandbox.api.list({ group: 'events.k8s.io', plural: 'events' }) as { note?: string }[];
    expect(status).toBe(204);
    expect(web.auditAnnotations).toEqual({ decision: 'mutated', rule: 'fast' });
    expect(await world.metric('config_valid')).toBe(0);
    expect(told.map(({ note }) => note)).toEqual([expect.stringContaining(problem)]);
    expect(world.state()?.['config.json']?.length).toBeLessThan(2_000);
  });

  it('leave the field to the settings again when they are deleted', async () => {
    world = await openWorld();
    await world.addNode('worker');
    await world.writeRules(rules);
    await world.tick();

    await world.sandbox.api.remove(configMaps, { name: 'node-affinity-mutate', namespace: 'kube-reflex' });
    await world.tell('ConfigMap', 'node-affinity-mutate', 'delete');

    expect((await world.decisionFor()).auditAnnotations).toEqual({ decision: 'mutated', rule: 'default' });
  });
});
