import { afterEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, ingresses, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { ingressOf, lineOf, openWorld, rulesName, type Environment, type World } from './world.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

async function open(environment: Environment = {}): Promise<World> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
  return world;
}

async function tickOf({ url }: Running): Promise<number> {
  return (await send(url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status;
}

describe('a dry run', () => {
  it('writes a preview beside the rules and says what would change', async () => {
    const { tick, sandbox, rules, state } = await open({ RENDER_ONLY: 'true', COREDNS_AUTO_CONFIGURE: 'true' });
    const data = { 'dynamic.server': 'rewrite name exact old.example.com peer.svc.\n' };
    await sandbox.api.create(configMaps, {
      metadata: { name: rulesName, namespace: 'kube-system' },
      data,
    } as ConfigMap);
    const before = sandbox.api.get(deployments, 'coredns', 'kube-system')?.metadata?.resourceVersion;
    await world.ingress('web', ['api.example.com']);

    expect(await tick()).toBe(204);
    const preview = sandbox.api.get(configMaps, `${rulesName}-preview`, 'kube-system') as ConfigMap;
    expect(preview.data?.['dynamic.server']).toContain(lineOf('api.example.com'));
    expect(rules()?.data).toEqual(data);
    expect(world.writes().filter((write) => !write.endsWith(' configmaps'))).toEqual([]); // no object is told of it
    expect(sandbox.api.get(deployments, 'coredns', 'kube-system')?.metadata?.resourceVersion).toBe(before);
    expect(JSON.parse(state('coredns-sync-state-preview')?.data?.['preview'] ?? '{}')).toEqual({
      adds: { count: 1, hosts: ['api.example.com'] },
      removes: { count: 1, hosts: ['old.example.com'] },
    });
  });

  it('leaves nothing behind that the next process takes for the rules of CoreDNS', async () => {
    await open({ COREDNS_AUTO_CONFIGURE: 'true', RENDER_MODE: 'exact', SHARD_BYTES: '4096', MAX_SHARDS: '8' });
    await world.tick();
    await world.rollOut();
    for (let index = 0; index < 120; index += 1) {
      await world.sandbox.api.create(ingresses, ingressOf(`web-${index}`, [`web-${index}.example.com`]));
    }
    await world.tick();
    const before = shards().length;
    const dry = await world.another({ RENDER_ONLY: 'true', SHARD_BYTES: '65536' });
    await tickOf(dry);
    await dry.close();
    const live = await world.another({ SHARD_BYTES: '65536' });
    await world.remove('web-7');
    const answers = [await tickOf(live), await tickOf(live)];

    expect(answers).toEqual([204, 204]);
    expect([before, shards().length]).toEqual([8, 1]);
    expect(world.lines()).toHaveLength(119);
    expect(world.lines()).not.toContain(lineOf('web-7.example.com'));
  });

  it('has records of its own: an event that it saw is not done for CoreDNS', async () => {
    await open();
    await world.tick();
    const dry = await world.another({ RENDER_ONLY: 'true' });
    await world.ingress('web', ['web.example.com']);
    await world.tell('add', 'web', { to: dry });
    const live = await world.another();

    expect(await world.tell('update', 'web', { to: live })).toBe(204);
    expect(world.lines()).toEqual([lineOf('web.example.com')]);
  });
});

/** The rules ConfigMaps of CoreDNS. */
function shards(): readonly string[] {
  return (world.sandbox.api.list(configMaps, { namespace: 'kube-system' }) as readonly ConfigMap[])
    .map(({ metadata }) => metadata?.name ?? '')
    .filter((name) => name.startsWith(rulesName) && !name.includes('preview'));
}
