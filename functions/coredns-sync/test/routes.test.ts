import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Running } from '../../../lib/runtime/main.ts';
import { createRoute, installKinds, serveOnlyAs, versionOf, type RouteKind } from './kinds.ts';
import { lineOf, openWorld, target, type World } from './world.ts';

const gatewayTarget = 'gateway.infra.svc.cluster.local.';
const traefikTarget = 'traefik.infra.svc.cluster.local.';

let world: World;

beforeEach(async () => {
  world = await openWorld({
    MIN_WRITE_INTERVAL_MS: '0',
    GATEWAY_CLASS: 'shared',
    GATEWAY_TARGET_CNAME: gatewayTarget,
    INGRESSROUTE_TARGET_CNAME: traefikTarget,
  });
  await installKinds(world.sandbox);
  await world.tick();
});

afterEach(async () => world[Symbol.asyncDispose]());

function gateway(name: string, listeners: readonly object[], gatewayClassName = 'shared'): Promise<unknown> {
  return createRoute(world.sandbox, 'Gateway', {
    metadata: { name, namespace: 'prod' },
    spec: { gatewayClassName, listeners },
  } as object);
}

interface RouteOptions {
  readonly kind?: RouteKind;
  readonly hostnames?: readonly string[];
  readonly ref?: object;
  readonly accepted?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The process that is told. */
  readonly to?: Running;
}

async function route(name: string, options: RouteOptions = {}): Promise<void> {
  const { kind = 'HTTPRoute', hostnames, ref = {}, accepted = 'True', annotations = {}, to = world.app } = options;
  const parentRef = { name: 'edge', namespace: 'prod', ...ref };
  await createRoute(world.sandbox, kind, {
    metadata: { name, namespace: 'shop', annotations },
    spec: { parentRefs: [parentRef], ...(hostnames === undefined ? {} : { hostnames }) },
    status: { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: accepted }] }] },
  } as object);
  expect(await world.tell('add', name, { kind, apiVersion: versionOf(kind), to })).toBe(204);
}

const everyone = { allowedRoutes: { namespaces: { from: 'All' } } };

describe('Gateway API', () => {
  it('CS-23 so it is with a wildcard of both, which means more to a route', async () => {
    await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }]);
    await route('high', { hostnames: ['*.example.com'], annotations: { 'coredns-ingress-sync-priority': '20' } });
    await route('low', { hostnames: ['*.example.org'] });
    await world.ingress('web', ['*.example.com', '*.example.org']);
    await world.tell('add', 'web');

    const events = world.sandbox.api.list({ group: 'events.k8s.io', plural: 'events' }) as readonly { note?: string }[];
    expect(events.map(({ note }) => note)).toContain(
      '*.example.com (HTTPRoute/shop/high): belongs to an object that ranks higher',
    );
    expect(targetOf('x.example.com.')).toBe(gatewayTarget);
    expect(targetOf('x.example.org.')).toBe(target);
    expect(targetOf('x.y.example.org.')).toBe(gatewayTarget);
  });

  /** Of the first rule that matches, as CoreDNS takes it. */
  function targetOf(name: string): string | undefined {
    const rules = world.lines().map((line) => line.split(' '));
    return rules.find(([, , , pattern = '']) => new RegExp(pattern).test(name))?.[4];
  }

  it('a Service that accepted a route does not stand in for a Gateway of the same name that did not', async () => {
    await createRoute(world.sandbox, 'Gateway', {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { gatewayClassName: 'shared', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    } as object);
    const parentRefs = [{ name: 'web' }, { group: '', kind: 'Service', name: 'web' }];
    const parents = parentRefs.map((parentRef, index) => ({
      parentRef,
      conditions: [{ type: 'Accepted', status: index === 0 ? 'False' : 'True' }],
    }));
    await createRoute(world.sandbox, 'HTTPRoute', {
      metadata: { name: 'mesh', namespace: 'shop' },
      spec: { parentRefs, hostnames: ['shop.example.com'] },
      status: { parents },
    } as object);
    await world.tell('add', 'mesh', { kind: 'HTTPRoute', apiVersion: versionOf('HTTPRoute') });

    expect(world.lines()).toEqual([]);
  });

  it('CS-23 an Ingress wins over a route, unless the route ranks higher', async () => {
    await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }]);
    await route('low', { hostnames: ['low.example.com'] });
    await route('high', { hostnames: ['high.example.com'], annotations: { 'coredns-ingress-sync-priority': '1' } });
    await world.ingress('web', ['low.example.com', 'high.example.com']);
    await world.tell('add', 'web');

    expect(world.lines()).toEqual([lineOf('high.example.com', gatewayTarget), lineOf('low.example.com', target)]);
  });

  it('CS-24 a route without hostnames has those of its listener, with the meaning of a suffix', async () => {
    await gateway('edge', [
      { name: 'apps', hostname: '*.apps.example.com', port: 80, protocol: 'HTTP', ...everyone },
      { name: 'any', port: 81, protocol: 'HTTP', ...everyone },
    ]);
    await route('apps');
    const [line] = world.lines();

    expect(world.lines()).toHaveLength(1);
    const [, pattern = ''] = /^rewrite name regex (\S+) (\S+) answer auto$/.exec(line ?? '') ?? [];
    const names = ['x.apps.example.com.', 'x.y.apps.example.com.', 'apps.example.com.', 'x.example.com.'];
    expect(names.map((name) => new RegExp(pattern).test(name))).toEqual([true, true, false, false]);
  });

  it('a route keeps its hosts while Gateways are defined and not served, whatever its events say', async () => {
    await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }]);
    await route('web', { hostnames: ['web.example.com'] });
    await serveOnlyAs(world.sandbox, 'gateways.gateway.networking.k8s.io', 'v2');

    expect(await world.tell('update', 'web', { kind: 'HTTPRoute', apiVersion: versionOf('HTTPRoute') })).toBe(204);
    expect(world.lines()).toEqual([lineOf('web.example.com', gatewayTarget)]);
  });

  it.each([
    ['a hostname of its own within the wildcard', { hostnames: ['shop.apps.example.com'] }, ['shop.apps.example.com']],
    ['a hostname elsewhere', { hostnames: ['shop.example.org'] }, []],
    ['a parent that did not accept it', { hostnames: ['shop.apps.example.com'], accepted: 'False' }, []],
    ['a section that is not there', { hostnames: ['shop.apps.example.com'], ref: { sectionName: 'none' } }, []],
    ['a port that is another', { hostnames: ['shop.apps.example.com'], ref: { port: 8080 } }, []],
    ['a kind for another protocol', { kind: 'TLSRoute' as const, hostnames: ['shop.apps.example.com'] }, []],
    [
      'a kind like HTTP',
      { kind: 'GRPCRoute' as const, hostnames: ['shop.apps.example.com'] },
      ['shop.apps.example.com'],
    ],
  ])('CS-24 a route with %s', async (_what, options, hosts) => {
    await gateway('edge', [{ name: 'apps', hostname: '*.apps.example.com', port: 80, protocol: 'HTTP', ...everyone }]);
    await route('route', options);

    expect(world.lines()).toEqual(hosts.map((host) => lineOf(host, gatewayTarget)));
  });

  it.each([
    ['from the same namespace only', { namespaces: { from: 'Same' } }, 0],
    [
      'by labels that fit',
      { namespaces: { from: 'Selector', selector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } } },
      1,
    ],
    ['by labels that do not', { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'x' } } } }, 0],
    ['of other kinds', { namespaces: { from: 'All' }, kinds: [{ kind: 'GRPCRoute' }] }, 0],
  ])('a listener that allows routes %s', async (_what, allowedRoutes, count) => {
    await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes }]);
    await route('route', { hostnames: ['shop.example.com'] });

    expect(world.lines()).toHaveLength(count);
  });

  it.each(['gateways', 'namespaces'])(
    'a route keeps its hosts while %s may not be read, and its event is answered',
    async (resource) => {
      await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }]);
      await route('kept', { hostnames: ['kept.example.com'] });
      world.sandbox.faults.add({ verb: 'get', resource, effect: { do: 'refuse', status: 403 } });
      await route('new', { hostnames: ['new.example.com'] });
      await world.tell('update', 'kept', { kind: 'HTTPRoute', apiVersion: versionOf('HTTPRoute') });

      expect(world.lines()).toEqual([lineOf('kept.example.com', gatewayTarget)]);
    },
  );

  it('a Gateway that may not be read keeps nobody from being served who does not refer to it', async () => {
    for (const name of ['edge', 'closed']) {
      await gateway(name, [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }]);
    }
    const effect = { do: 'refuse', status: 403 } as const;
    world.sandbox.faults.add({ verb: 'get', resource: 'gateways', name: 'closed', effect });
    await route('first', { hostnames: ['first.example.com'] });
    const to = await world.another({ MIN_WRITE_INTERVAL_MS: '60000' });
    await route('seen', { hostnames: ['seen.example.com'], to });
    await route('hidden', { hostnames: ['hidden.example.com'], ref: { name: 'closed' }, to });
    await to.close(); // writes both in one go

    expect(world.lines()).toEqual(['first', 'seen'].map((name) => lineOf(`${name}.example.com`, gatewayTarget)));
  });

  it('a Gateway of another class asks for nothing', async () => {
    await gateway('edge', [{ name: 'http', port: 80, protocol: 'HTTP', ...everyone }], 'other');
    await route('route', { hostnames: ['shop.example.com'] });

    expect(world.lines()).toEqual([]);
  });
});

describe('Traefik', () => {
  async function ingressRoute(name: string, ...rules: readonly string[]): Promise<number> {
    await createRoute(world.sandbox, 'IngressRoute', {
      metadata: { name, namespace: 'shop' },
      spec: { routes: rules.map((match) => ({ match, kind: 'Rule' })) },
    } as object);
    return world.tell('add', name, { kind: 'IngressRoute', apiVersion: versionOf('IngressRoute') });
  }

  it('CS-15 one name written in two ways is one rule', async () => {
    expect(await ingressRoute('route', 'Host(`API.Example.com.`) || Host("api.example.com")')).toBe(204);
    expect(world.lines()).toEqual([lineOf('api.example.com', traefikTarget)]);
  });

  it('CS-17 nothing of a forged host reaches a written object, and the rejection is counted', async () => {
    const forged = 'x.example.com\n}\nevil.example:53 {\n    forward . 192.0.2.66\n';
    expect(await ingressRoute('route', `Host(\`${forged}\`) || Host(\`fine.example.com\`)`)).toBe(204);

    const written = [
      ...world.sandbox.api.list({ group: '', plural: 'configmaps' }),
      ...world.sandbox.api.list({ group: 'events.k8s.io', plural: 'events' }),
    ];
    expect(JSON.stringify(written)).not.toMatch(/evil|192\.0\.2\.66/);
    expect(world.lines()).toEqual([lineOf('fine.example.com', traefikTarget)]);
    const metrics = await (await fetch(new URL('/metrics', world.app.url))).text();
    expect(metrics).toContain('kube_reflex_coredns_sync_rejected_hosts_total{reason="invalid"} 1');
  });
});
