import { afterEach, expect, it } from '@jest/globals';
import { configMaps, deployments, ingresses, type Deployment } from '../../../lib/kube/model/resource.ts';
import { shardKey } from '../render/render.ts';
import { ingressOf, openWorld, type World } from './world.ts';

const shards = 8;
const hosts = Array.from({ length: 200 }, (_, index) => `web-${index}.example.com`);

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

it('no name leads to the target of a wildcard while the rules turn from rewriting into templates', async () => {
  const mappings = ['wild', 'own'].map((ingressClass) => ({ ingressClass, targetCNAME: `${ingressClass}.svc.` }));
  world = await openWorld({
    ...{ MIN_WRITE_INTERVAL_MS: '0', COREDNS_AUTO_CONFIGURE: 'true', EMIT_EVENTS: 'false' },
    ...{ SHARD_BYTES: '4096', MAX_SHARDS: String(shards), INGRESS_CLASS_MAPPINGS: JSON.stringify(mappings) },
  });
  const { api } = world.sandbox;
  await world.tick();
  await world.rollOut();
  await world.ingress('wild', ['*.example.com'], { className: 'wild' });
  for (const [index, host] of hosts.entries()) {
    await api.create(ingresses, ingressOf(`web-${index}`, [host], { className: 'own' }));
  }
  await world.tick();
  const wrong = new Set<string>();
  api.subscribe(configMaps, () =>
    hosts.filter((host) => targetOf(host) !== 'own.svc.').forEach((host) => wrong.add(host)),
  );
  const coredns = structuredClone(api.get(deployments, 'coredns', 'kube-system')) as Deployment;
  Object.assign(coredns.spec?.template.spec?.containers[0] ?? {}, { image: 'registry.example.com/coredns:ours' });
  await api.update(deployments, coredns);
  await world.tick();

  expect(world.lines().filter((line) => line.startsWith('rewrite'))).toEqual([]);
  expect([...wrong]).toEqual([]);
});

/** As CoreDNS finds it: it rewrites before it looks at templates, each in the order of files. */
function targetOf(host: string): string | undefined {
  const files = Array.from({ length: shards }, (_, index) => [shardKey('dynamic.server', index), index] as const);
  const lines = files
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([key, index]) => (world.rules(index)?.data?.[key] ?? '').split('\n'));
  const rewritten = lines
    .map((line) => /^rewrite name regex (\S+) (\S+) answer auto$/.exec(line))
    .find((found) => found !== null && new RegExp(found[1] ?? '').test(`${host}.`));
  return rewritten?.[2] ?? templateOf(host, lines);
}

function templateOf(host: string, lines: readonly string[]): string | undefined {
  const match = lines.findIndex((line) => new RegExp(/^ {4}match (\S+)$/.exec(line)?.[1] ?? '$.').test(`${host}.`));
  const answer = match < 0 ? undefined : lines.slice(match).find((line) => line.includes(' CNAME '));
  return /CNAME (\S+)"$/.exec(answer ?? '')?.[1];
}
