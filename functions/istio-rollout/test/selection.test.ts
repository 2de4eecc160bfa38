import { afterEach, describe, expect, it } from '@jest/globals';
import { injectorConfigMap, revisionWebhooks, tagWebhooks } from '../sandbox/istio.ts';
import {
  configMaps,
  mutatingWebhooks,
  namespaces,
  type MutatingWebhookConfiguration,
  type Namespace,
} from '../../../lib/kube/model/resource.ts';
import type { Injector } from './injector/injector.ts';
import { newImage, oldImage, until } from './objects.ts';
import { World } from './world.ts';

let world: World;

afterEach(() => world.close());

/** A second revision next to the default one. */
async function addRevision(revision: string, image: string): Promise<Injector> {
  const injector = await world.addInjector(image, revision);
  await world.create(configMaps, injectorConfigMap({ revision, tag: image.split(':')[1] ?? '' }));
  await world.create(mutatingWebhooks, revisionWebhooks(revision, injector.clientConfig));
  return injector;
}

async function label(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await world.change<Namespace>(namespaces, [name], (object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...labels } },
  }));
  await world.namespaceEvent(name);
}

async function moveTag(tag: string, revision: string, { clientConfig }: Injector): Promise<void> {
  const { metadata: { labels = {} } = {}, ...moved } = tagWebhooks({ tag, revision }, clientConfig);
  await world.change<MutatingWebhookConfiguration>(mutatingWebhooks, [`istio-revision-tag-${tag}`], ({ metadata }) => ({
    ...moved,
    metadata: { ...metadata, labels },
  }));
}

function probed(injector: Injector, app: string): number {
  return injector.asked.filter(({ dryRun, pod }) => dryRun && pod.metadata?.labels?.['app'] === app).length;
}

describe('who injects', () => {
  it('IR-3 pods of a namespace that moves to a revision older than they are get restarted', async () => {
    world = await World.open();
    const canary = await addRevision('canary', newImage);
    world.turn(7 * 86_400);
    await world.deployment('web');
    await world.tick();

    world.turn(3600);
    await label('shop', { 'istio.io/rev': 'canary' });
    await world.tick();

    expect(world.restarts).toEqual(['Deployment shop/web']);
    expect(probed(canary, 'web')).toBe(1);
  });

  it('IR-4 pods without a sidecar are restarted when their namespace asks for one', async () => {
    world = await World.open();
    await world.namespace('late');
    world.turn(3600);
    await world.deployment('web', { namespace: 'late' });
    await world.tick();

    world.turn(3600);
    await label('late', { 'istio-injection': 'enabled' });
    await world.tick();

    expect(world.restarts).toEqual(['Deployment late/web']);
    expect(['InFlight', 'Restarted']).toContain((await world.row('web'))?.code);
    expect(world.logged.find(({ msg }) => msg === 'restart')).toMatchObject({ reason: 'missing' });
  });

  it.each([
    {
      name: 'IR-5 istio-injection=enabled beats istio.io/rev',
      labels: { 'istio-injection': 'enabled', 'istio.io/rev': 'canary' },
      pod: {},
      asks: 'default',
    },
    {
      name: 'IR-6 the revision of the namespace beats that of the template',
      labels: { 'istio.io/rev': 'canary' },
      pod: { 'istio.io/rev': 'default' },
      asks: 'canary',
    },
    {
      name: 'the revision of a template counts where the namespace says nothing',
      labels: {},
      pod: { 'istio.io/rev': 'canary' },
      asks: 'canary',
    },
  ])('$name', async ({ labels, pod, asks }) => {
    world = await World.open();
    const canary = await addRevision('canary', newImage);
    await world.namespace('team', labels);
    await world.deployment('web', { namespace: 'team', labels: pod });

    await world.tick();

    const counts = { default: probed(world.injector, 'web'), canary: probed(canary, 'web') };
    expect(counts).toEqual({ default: 0, canary: 0, [asks]: 1 });
  });

  it('IR-7 nobody injects where istio-injection is disabled, whatever the template says', async () => {
    world = await World.open();
    const canary = await addRevision('canary', newImage);
    await world.namespace('off', { 'istio-injection': 'disabled' });
    await world.deployment('web', { namespace: 'off', labels: { 'istio.io/rev': 'canary' } });

    await world.tick();

    expect(world.restarts).toEqual([]);
    expect(probed(world.injector, 'web') + probed(canary, 'web')).toBe(0);
    expect(await world.metric('skipped_total{reason="NoInjector"}')).toBe(1);
  });

  it('IR-8 a stock gateway in a namespace without labels follows the default revision', async () => {
    world = await World.open();
    await world.namespace('edge');
    await world.deployment('gateway', {
      namespace: 'edge',
      labels: { 'sidecar.istio.io/inject': 'true' },
      templateAnnotations: { 'inject.istio.io/templates': 'gateway' },
      containers: [{ name: 'istio-proxy', image: 'auto' }],
    });
    await world.tick();

    await world.upgrade();
    await world.drive();

    expect(world.restarts).toEqual(['Deployment edge/gateway']);
    expect(world.imagesOf('gateway', 'edge')).toEqual([newImage]);
  });

  it('IR-9 moving a tag restarts the namespaces that use it, and no others', async () => {
    world = await World.open();
    const [older, newer] = [await addRevision('1-28', oldImage), await addRevision('1-29', newImage)];
    await world.create(mutatingWebhooks, tagWebhooks({ tag: 'prod', revision: '1-28' }, older.clientConfig));
    await world.namespace('tagged', { 'istio.io/rev': 'prod' });
    await world.namespace('pinned', { 'istio.io/rev': '1-28' });
    await world.deployment('web', { namespace: 'tagged' });
    await world.deployment('web', { namespace: 'pinned' });
    await world.tick();

    world.turn(3600);
    await moveTag('prod', '1-29', newer);
    await world.webhookEvent('istio-revision-tag-prod');
    await world.drive();

    expect(world.restarts).toEqual(['Deployment tagged/web']);
    expect(world.imagesOf('web', 'tagged')).toEqual([newImage]);
  });

  it('IR-9 a tag that moves together with the labels of one namespace restarts the others as well', async () => {
    world = await World.open({ RECONCILE_PERIOD: '0' });
    const [older, newer] = [await addRevision('1-28', oldImage), await addRevision('1-29', newImage)];
    await world.create(mutatingWebhooks, tagWebhooks({ tag: 'prod', revision: '1-28' }, older.clientConfig));
    for (const name of ['first', 'second', 'third']) {
      await world.namespace(name, { 'istio.io/rev': name === 'first' ? '1-28' : 'prod' });
      await world.deployment('web', { namespace: name });
    }
    await world.tick();

    world.turn(3600);
    await moveTag('prod', '1-29', newer); // of which the event is late
    await label('first', { 'istio.io/rev': 'prod' });
    await until('it is scanned', () => world.state().webhooks['istio-revision-tag-prod']?.revision === '1-29');
    await world.drive();

    expect(world.restarts.toSorted()).toEqual(['first', 'second', 'third'].map((name) => `Deployment ${name}/web`));
  });

  it('IR-10 a new caBundle alone changes nothing, not even the time of the last change', async () => {
    world = await World.open();
    await world.deployment('web');
    await world.tick();
    const { webhooks } = world.state();
    const written = world.calls.length;

    world.turn(7200);
    await world.change<MutatingWebhookConfiguration>(mutatingWebhooks, ['istio-sidecar-injector'], (object) => ({
      ...object,
      webhooks: (object.webhooks ?? []).map((each) => ({
        ...each,
        clientConfig: { ...each.clientConfig, caBundle: `${each.clientConfig.caBundle ?? ''}Cg==` },
      })),
    }));
    await world.webhookEvent('istio-sidecar-injector');

    expect(world.state().pending).toBeUndefined();
    expect(world.state().webhooks).toEqual(webhooks);
    expect(world.calls.slice(written).filter(({ verb }) => verb !== 'get')).toEqual([]);
    expect(world.restarts).toEqual([]);
  });

  it('IR-37 pods whose namespace names an unknown revision keep their sidecars, and that is told once', async () => {
    world = await World.open({ RECONCILE_PERIOD: '1m' });
    await world.deployment('web');
    await world.tick();

    world.turn(3600);
    await label('shop', { 'istio.io/rev': 'nowhere' });
    for (let count = 0; count < 3; count += 1) {
      await world.tickLater(120);
    }

    expect(world.restarts).toEqual([]);
    expect(world.eventsOf('UnknownRevision')).toEqual(['web']);
    expect(await world.row('web')).toMatchObject({ code: 'UnknownRevision', current: oldImage });
    expect(world.calls.filter(({ verb, resource }) => verb === 'create' && resource.startsWith('events')).length).toBe(
      1,
    );
  });

  it('IR-39 an event about a Namespace has an empty namespace', async () => {
    world = await World.open();
    await world.namespaceEvent('shop');

    await until('it is recorded', () => world.state().namespaces['shop'] !== undefined);
  });
});
