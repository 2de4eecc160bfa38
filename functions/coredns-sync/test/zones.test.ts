import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configMaps, deployments, type ConfigMap, type Deployment } from '../../../lib/kube/model/resource.ts';
import { openWorld, rulesName, type Environment, type World } from './world.ts';

const ourImport = 'import /etc/coredns/custom/coredns-ingress-sync/*.server';

let world: World;
afterEach(async () => world[Symbol.asyncDispose]());

function corefile(): ConfigMap {
  return structuredClone(world.sandbox.api.get(configMaps, 'coredns', 'kube-system')) as ConfigMap;
}

async function editCorefile(edit: (text: string) => string): Promise<void> {
  const object = corefile();
  const data = { Corefile: edit(object.data?.['Corefile'] ?? '') };
  await world.sandbox.api.update(configMaps, { ...object, data } as ConfigMap);
}

/** The lines of the block that has a zone for itself, and asks somebody else for it. */
function blockOfZone(): string {
  return /^example\.com:53 \{\n([^}]*)\}/m.exec(corefile().data?.['Corefile'] ?? '')?.[1] ?? '';
}

/** A question that is rewritten in that block is asked of somebody who has never heard of Services. */
function renderMode(): string | undefined {
  return world.rules()?.metadata?.annotations?.['coredns-sync.kube-reflex.dev/render-mode'];
}

async function openWithZone(environment: Environment = {}): Promise<void> {
  world = await openWorld({ MIN_WRITE_INTERVAL_MS: '0', ...environment });
  await editCorefile((text) => `${text}example.com:53 {\n    forward . 192.0.2.1\n}\n`);
}

async function add(name: string, host: string): Promise<number> {
  await world.ingress(name, [host]);
  return world.tell('add', name);
}

describe('a zone that has a server block of its own', () => {
  describe('where CoreDNS is configured by us', () => {
    beforeEach(async () => {
      await openWithZone({ COREDNS_AUTO_CONFIGURE: 'true' });
      await world.tick();
      await world.rollOut();
      await world.ingress('other', ['api.example.net']);
      await world.tick();
    });

    it('CS-31 is answered from its first host on, by the event of that host', async () => {
      expect([renderMode(), blockOfZone()]).toEqual(['exact', expect.not.stringContaining(ourImport)]);

      expect(await add('web', 'www.example.com')).toBe(204);
      expect([renderMode(), blockOfZone()]).toEqual(['template', expect.stringContaining(ourImport)]);
    });

    it('CS-31 gets the import when the rules suit it, and not before', async () => {
      await add('web', 'www.example.com');

      const written = Number(world.rules()?.metadata?.resourceVersion);
      expect(Number(corefile().metadata?.resourceVersion)).toBeGreaterThan(written);
    });

    it('CS-31 costs no more than any other with its second host', async () => {
      await add('web', 'www.example.com');
      const before = world.calls.length;
      await add('more', 'more.example.com');
      const calls = world.calls.slice(before);

      expect(calls.length).toBeLessThanOrEqual(8);
      expect(calls.filter(({ verb }) => verb === 'list')).toEqual([]);
      expect(renderMode()).toBe('template');
    });

    it('CS-31 keeps rules that suit it as long as it imports them, hosts or not', async () => {
      await add('web', 'www.example.com');
      await world.remove('web');
      await world.tell('delete', 'web');
      await world.tick();

      expect([renderMode(), blockOfZone()]).toEqual(['template', expect.stringContaining(ourImport)]);
      await editCorefile((text) => text.replace(/(example\.com:53 \{\n) *import.*\n/, '$1'));
      await world.tick();
      expect(renderMode()).toBe('exact');
    });
  });

  it('CS-31 never gets rules that break its hosts where somebody imported them into every block', async () => {
    await openWithZone();
    await editCorefile((text) => text.replaceAll(/^\S+ \{\n/gm, `$&    ${ourImport}\n`));
    const object = structuredClone(world.sandbox.api.get(deployments, 'coredns', 'kube-system')) as Deployment;
    const pod = object.spec?.template.spec;
    const name = 'coredns-ingress-sync-volume';
    pod?.volumes?.push({ name, configMap: { name: rulesName, optional: true } });
    const mountPath = '/etc/coredns/custom/coredns-ingress-sync';
    pod?.containers[0]?.volumeMounts?.push({ name, mountPath, readOnly: true });
    await world.sandbox.api.update(deployments, object);
    await world.ingress('other', ['api.example.net']);
    await world.tick();

    expect(world.conditions()).not.toHaveProperty('NotConfigured');
    expect(renderMode()).toBe('template');
    await add('web', 'www.example.com');
    expect(renderMode()).toBe('template');
  });
});
