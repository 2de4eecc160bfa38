import { afterEach, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../lib/function/config.ts';
import { ingressClasses } from '../../../lib/kube/model/resource.ts';
import { lineOf, openWorld, type Environment, type World } from './world.ts';
import { turnedClock } from '../../../lib/sandbox/test/turned-clock.ts';
import { Config } from '../config.ts';

describe('what counts', () => {
  let world: World;

  async function after(
    environment: Environment,
    arrange: (world: World) => Promise<unknown>,
  ): Promise<readonly string[]> {
    world = await openWorld(environment);
    await arrange(world);
    expect(await world.tick()).toBe(204);
    return world.lines();
  }

  afterEach(async () => world[Symbol.asyncDispose]());

  async function createClass({ sandbox }: World, name: string, isDefault = 'true'): Promise<void> {
    await sandbox.api.create(ingressClasses, {
      metadata: { name, annotations: { 'ingressclass.kubernetes.io/is-default-class': isDefault } },
      spec: { controller: 'k8s.io/ingress-nginx' },
    } as object);
  }

  it.each([
    ['true', [lineOf('api.example.com')]],
    ['false', []],
  ])('CS-11 the legacy class annotation counts with LEGACY_CLASS_ANNOTATION=%s as it says', async (value, expected) => {
    const annotations = { 'kubernetes.io/ingress.class': 'nginx' };
    const lines = await after({ LEGACY_CLASS_ANNOTATION: value }, ({ ingress }) =>
      ingress('web', ['api.example.com'], { className: undefined, annotations }),
    );

    expect(lines).toEqual(expected);
  });

  it.each([
    ['default', [lineOf('api.example.com')]],
    ['ignore', []],
  ])(
    'CS-12 an Ingress without class belongs to the default one with UNCLASSED=%s as it says',
    async (value, expected) => {
      const lines = await after({ UNCLASSED: value }, async (opened) => {
        await opened.ingress('web', ['api.example.com'], { className: undefined });
        await createClass(opened, 'nginx');
      });

      expect(lines).toEqual(expected);
    },
  );

  it.each([
    ['true', [lineOf('api.example.com')]],
    ['false', []],
  ])(
    'CS-12 an event looks at the classes, too: one that is annotated with "%s" counts as it says',
    async (isDefault, expected) => {
      await after({ UNCLASSED: 'default', MIN_WRITE_INTERVAL_MS: '0' }, () => Promise.resolve());
      await createClass(world, 'nginx', isDefault);
      await world.ingress('web', ['api.example.com'], { className: undefined });

      expect(await world.tell('add', 'web')).toBe(204);
      expect(world.lines()).toEqual(expected);
    },
  );

  it.each([
    [['other', 'nginx'], [lineOf('api.example.com')]],
    [['nginx', 'other'], []],
  ])('CS-12 of the default classes %j the newest counts', async (classes, expected) => {
    const clock = turnedClock();
    world = await openWorld({ UNCLASSED: 'default', MIN_WRITE_INTERVAL_MS: '0' }, { clock });
    for (const name of classes) {
      await createClass(world, name);
      clock.turn(5000);
    }
    await world.ingress('web', ['api.example.com'], { className: undefined });

    expect(await world.tell('add', 'web')).toBe(204);
    expect(world.lines()).toEqual(expected);
    expect(await world.tick()).toBe(204);
    expect(world.lines()).toEqual(expected);
  });

  it('CS-13 only namespaces that are watched and not excluded count', async () => {
    const environment = { WATCH_NAMESPACES: ' a , ,b', EXCLUDE_NAMESPACES: 'b' };
    const lines = await after(environment, async ({ ingress }) => {
      for (const namespace of ['a', 'b', 'prod']) {
        await ingress('web', [`${namespace}.example.com`], { namespace });
      }
    });

    expect(lines).toEqual([lineOf('a.example.com')]);
  });

  it('CS-13 an event from elsewhere is answered before any call', async () => {
    world = await openWorld({ WATCH_NAMESPACES: 'a', EXCLUDE_INGRESSES: 'legacy' });
    await world.ingress('web', ['b.example.com'], { namespace: 'b' });

    expect(await world.tell('add', 'web', { namespace: 'b' })).toBe(204);
    expect(await world.tell('add', 'legacy', { namespace: 'a' })).toBe(204);
    expect(world.calls).toEqual([]);
  });

  it('CS-14 Ingresses are left out by name or by namespace and name, and half entries mean nothing', async () => {
    const lines = await after({ EXCLUDE_INGRESSES: 'legacy,prod/x,/y,z/' }, async ({ ingress }) => {
      await ingress('legacy', ['legacy.example.com']);
      await ingress('x', ['prod-x.example.com'], { namespace: 'prod' });
      await ingress('x', ['shop-x.example.com']);
      await ingress('y', ['y.example.com']);
      await ingress('z', ['z.example.com']);
    });

    expect(lines).toEqual(['shop-x', 'y', 'z'].map((name) => lineOf(`${name}.example.com`)));
  });

  it('CS-21 hosts that are too broad, of the cluster or those of the target have no rules, and are counted', async () => {
    const refused = ['*.com', 'kubernetes.default.svc.cluster.local', 'lb.edge.example.net', '*.edge.example.net'];
    const lines = await after({ TARGET_CNAME: 'lb.edge.example.net' }, ({ ingress }) =>
      ingress('web', [...refused, 'fine.example.com']),
    );
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();

    expect(lines).toEqual([lineOf('fine.example.com', 'lb.edge.example.net.')]);
    expect(metrics).toContain('rejected_hosts_total{reason="broad"} 1');
    expect(metrics).toContain('rejected_hosts_total{reason="protected"} 3');
  });

  it('a namespace counts by its labels where NAMESPACE_SELECTOR says so', async () => {
    const environment = { NAMESPACE_SELECTOR: 'kubernetes.io/metadata.name in (a)', MIN_WRITE_INTERVAL_MS: '0' };
    const lines = await after(environment, async ({ ingress }) => {
      await ingress('web', ['a.example.com'], { namespace: 'a' });
      await ingress('web', ['b.example.com'], { namespace: 'b' });
    });
    await world.ingress('more', ['more.example.com'], { namespace: 'a' });
    await world.tell('add', 'more', { namespace: 'a' });

    expect(lines).toEqual([lineOf('a.example.com')]);
    expect(world.lines()).toEqual([lineOf('a.example.com'), lineOf('more.example.com')]);
  });

  it('priority counts only where PRIORITY_NAMESPACES allows it', async () => {
    const annotations = { 'coredns-ingress-sync-priority': '9' };
    const mappings = ['one', 'two'].map((name) => ({ ingressClass: name, targetCNAME: `${name}.svc.example.` }));
    const environment = { PRIORITY_NAMESPACES: 'a', INGRESS_CLASS_MAPPINGS: JSON.stringify(mappings) };
    const lines = await after(environment, async ({ ingress }) => {
      await ingress('first', ['x.example.com', 'y.example.com'], { className: 'one' });
      await ingress('second', ['x.example.com'], { className: 'two', namespace: 'a', annotations });
      await ingress('third', ['y.example.com'], { className: 'two', namespace: 'b', annotations });
    });

    expect(lines).toEqual([lineOf('x.example.com', 'two.svc.example.'), lineOf('y.example.com', 'one.svc.example.')]);
  });
});

describe('wrong settings', () => {
  it.each([
    ['not JSON', '{'],
    ['no list', '{"ingressClass":"nginx","targetCNAME":"a.svc."}'],
    ['a missing target', '[{"ingressClass":"nginx"}]'],
    ['an empty target', '[{"ingressClass":"nginx","targetCNAME":""}]'],
    ['a target that is no name', '[{"ingressClass":"nginx","targetCNAME":"a b"}]'],
    ['a missing class', '[{"targetCNAME":"a.svc."}]'],
    ['one bad entry of two', '[{"ingressClass":"nginx","targetCNAME":"a.svc."},{}]'],
  ])('CS-25 mappings that are %s stop the start and name the variable', (_what, value) => {
    expect(() => parseConfig(Config, { INGRESS_CLASS_MAPPINGS: value })).toThrow(
      /INGRESS_CLASS_MAPPINGS must be a JSON list/,
    );
  });

  it.each([
    ['INGRESS_CLASS_MAPPINGS', '{'],
    ['INGRESS_CLASS_MAPPINGS', '[{"ingressClass":"nginx"}]'],
  ])('CS-25 %s=%s is never ready and sends nothing to the cluster', async (name, value) => {
    await using world = await openWorld();
    await world.ingress('web', ['api.example.com']);

    await expect(world.another({ [name]: value })).rejects.toThrow(name);
    expect(world.calls).toEqual([]);
    expect([world.rules(), world.state()]).toEqual([undefined, undefined]);
  });

  it.each([
    ['TARGET_CNAME', 'a b'],
    ['RENDER_MODE', 'fancy'],
    ['MAX_SHARDS', '3'],
    ['DYNAMIC_CONFIG_KEY', 'dynamic.hosts'],
    ['COREDNS_AUTO_CONFIGURE', 'perhaps'],
    ['NAMESPACE_SELECTOR', 'a in'],
  ])('CS-25 %s=%s stops the start and names the variable', (name, value) => {
    expect(() => parseConfig(Config, { [name]: value })).toThrow(name);
  });
});
