import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { events, namespaces } from '../../../lib/kube/model/resource.ts';
import { applications, type Application } from '../hold/application.ts';
import { helmReleases, kustomizations } from '../hold/flux.ts';
import { changeFreezes, type Behavior } from '../policy.ts';
import { application, freeze, namespaceNamed, pausing } from './objects.ts';
import { lasting, openWorld, type Replica, type World } from './world.ts';

const start = '2026-12-24T00:00:00Z';
const noon = '2026-12-25T12:00:00Z';
const end = '2026-12-26T00:00:00Z';
const automated = { prune: true, selfHeal: true };

let world: World;
let replica: Replica;

function autosyncOf(name: string): unknown {
  return world.get(applications, name, 'argocd').spec?.syncPolicy?.automated;
}

function annotationsOf({ metadata }: Application): Record<string, string> {
  return metadata?.annotations ?? {};
}

function freezeStatus(name: string): (typeof changeFreezes)['object'] {
  return world.get(changeFreezes, name);
}

describe('GitOps objects in a freeze', () => {
  beforeEach(async () => {
    world = await openWorld({ at: '2026-12-25T11:00:00Z', kinds: [applications, kustomizations, helmReleases] });
    await world.create(namespaces, namespaceNamed('argocd', {}));
    await world.create(namespaces, namespaceNamed('flux-system', { team: 'web' }));
    replica = await world.replica();
  });
  afterEach(() => world.close());

  it('FC-70 an Application paused by two policies in turn gets back byte for byte what it had', async () => {
    const made = await world.create(applications, application('shop', automated));
    const manual = await world.create(applications, application('manual'));
    await world.create(changeFreezes, freeze('a', [start, noon], { behavior: pausing }));
    await world.create(changeFreezes, freeze('b', [start, end], { behavior: pausing }));
    const writes = world.countWrites(applications);

    await replica.tick();
    const first = world.get(applications, 'shop', 'argocd');
    world.turnTo(noon);
    await replica.tick();
    const second = world.get(applications, 'shop', 'argocd');
    world.turnTo(end);
    await replica.tick();

    expect(first.spec).toEqual({ ...made.spec, syncPolicy: { syncOptions: ['CreateNamespace=true'] } });
    expect(annotationsOf(first)).toEqual({
      'freeze-operator.io/managed': 'true',
      'freeze-operator.io/managed-by-policy': 'a',
      'freeze-operator.io/managed-by-kind': 'ChangeFreeze',
      'freeze-operator.io/original-autosync': JSON.stringify(automated),
    });
    expect(annotationsOf(second)).toEqual({
      ...annotationsOf(first),
      'freeze-operator.io/managed-by-policy': 'b',
    });
    expect(lasting(world.get(applications, 'shop', 'argocd'))).toEqual(lasting(made));
    expect(lasting(world.get(applications, 'manual', 'argocd'))).toEqual(lasting(manual));
    expect(writes).toEqual(
      new Map([
        ['manual', 3],
        ['shop', 3],
      ]),
    );
  });

  it('counts in the status what it holds, and only while it does', async () => {
    await world.create(applications, application('shop', automated));
    await world.create(kustomizations, { metadata: { name: 'web', namespace: 'flux-system' } });
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));

    await replica.tick();
    const held = freezeStatus('holiday')?.status;
    world.turnTo(end);
    await replica.tick();

    expect(held).toMatchObject({ gitopsPausedCount: 2, gitopsLastReconcileTime: '2026-12-25T11:00:00Z' });
    expect(freezeStatus('holiday')?.status).toMatchObject({ gitopsPausedCount: 0 });
  });

  it('suspends Flux objects by their selectors and namespaces, and leaves no trace on them afterwards', async () => {
    const behavior: Behavior = {
      gitops: {
        enabled: true,
        providers: ['flux'],
        flux: {
          namespaceSelector: { matchLabels: { team: 'web' } },
          kustomizationSelector: { matchLabels: { tier: 'front' } },
        },
      },
    };
    const place = { namespace: 'flux-system' };
    const front = await world.create(kustomizations, {
      metadata: { ...place, name: 'front', labels: { tier: 'front' } },
      spec: { interval: '5m' } as object,
    });
    await world.create(kustomizations, { metadata: { ...place, name: 'back' }, spec: {} });
    const resting = await world.create(helmReleases, { metadata: { ...place, name: 'db' }, spec: { suspend: true } });
    await world.create(helmReleases, { metadata: { namespace: 'argocd', name: 'other' }, spec: {} });
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior }));

    await replica.tick();
    const suspended = [
      world.get(kustomizations, 'front', 'flux-system'),
      world.get(kustomizations, 'back', 'flux-system'),
      world.get(helmReleases, 'db', 'flux-system'),
      world.get(helmReleases, 'other', 'argocd'),
    ].map(({ spec }) => spec?.suspend);
    world.turnTo(end);
    await replica.tick();

    expect(suspended).toEqual([true, undefined, true, undefined]);
    expect(lasting(world.get(kustomizations, 'front', 'flux-system'))).toEqual(lasting(front));
    expect(lasting(world.get(helmReleases, 'db', 'flux-system'))).toEqual(lasting(resting));
  });

  it.each([
    ['a provider without its block', { enabled: true, providers: ['argocd' as const] }],
    ['a block whose provider is not listed', { enabled: true, argocd: {} }],
    ['gitops that is not enabled', { enabled: false, providers: ['argocd' as const], argocd: {} }],
  ])('does nothing for %s', async (_what, gitops) => {
    await world.create(applications, application('shop', automated));
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: { gitops } }));

    await replica.tick();

    expect(autosyncOf('shop')).toEqual(automated);
  });

  it('releases when the policy goes or no longer asks for it', async () => {
    await world.create(applications, application('shop', automated));
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));
    await replica.tick();
    const held = autosyncOf('shop');

    await world.edit(changeFreezes, { name: 'holiday' }, (policy) => ({
      ...policy,
      spec: { ...policy.spec, behavior: {} },
    }));
    await replica.tick();
    const cleared = autosyncOf('shop');

    expect([held, cleared]).toEqual([undefined, automated]);
  });

  it('pauses again what somebody turns on during the freeze, and gives them back what they wrote', async () => {
    await world.create(applications, application('shop', automated));
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));
    await replica.tick();

    await world.edit(applications, { name: 'shop', namespace: 'argocd' }, (found) => ({
      ...found,
      spec: { ...found.spec, syncPolicy: { automated: { prune: false } } },
    }));
    await replica.tick();
    const again = autosyncOf('shop');
    world.turnTo(end);
    await replica.tick();

    expect(again).toBeUndefined();
    expect(autosyncOf('shop')).toEqual({ prune: false });
  });

  it('warns when an ApplicationSet may undo the pause, in an Event and a condition', async () => {
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: 'u-1' };
    const made = application('shop', automated);
    await world.create(applications, { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } });
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));

    await replica.tick();
    await replica.tick();

    const told = world.sandbox.api.list(events) as readonly { reason?: string; note?: string }[];
    expect(told.filter(({ reason }) => reason === 'GitOpsDrift').map(({ note }) => note)).toEqual([
      expect.stringMatching(
        /^Their ApplicationSet may undo the pause of argocd\/shop \(fleet\): let it ignore \/spec\/syncPolicy\/automated/,
      ),
    ]);
    expect(freezeStatus('holiday')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'GitOpsDrift', status: 'True', reason: 'OwnedByApplicationSet' }),
    );
  });

  it.each([
    ['the spec', (found: Application) => found.metadata?.annotations],
    ['the spec and our marks', () => undefined],
  ])(
    'leaves to the tick an ApplicationSet that undoes %s at once: the two do not chase each other',
    async (_what, kept) => {
      const watching = await world.replica({ name: 'watching', environment: { GITOPS_EVENTS: 'argocd' } });
      const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: 'u-1' };
      const wanted = application('shop', automated);
      const made = { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [owner] } };
      await world.create(applications, made);
      await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));
      await watching.tick();

      await world.edit(applications, { name: 'shop', namespace: 'argocd' }, (found) => {
        const annotations = kept(found);
        const { annotations: _ours, ...metadata } = found.metadata ?? {};
        return {
          ...found,
          metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) },
          spec: made.spec ?? {},
        };
      });
      await watching.tell('update', applications, made);
      const onEvent = autosyncOf('shop');
      await watching.tick();

      expect([onEvent, autosyncOf('shop')]).toEqual([automated, undefined]);
    },
  );

  it('acts on the event of an Application where it is told to watch them', async () => {
    const watching = await world.replica({ name: 'watching', environment: { GITOPS_EVENTS: 'argocd' } });
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));
    await watching.tick();
    const made = await world.create(applications, application('late', automated));

    await watching.tell('add', applications, made);

    expect(autosyncOf('late')).toBeUndefined();
  });
});

describe('GitOps kinds that are not installed', () => {
  it('FC-71 cause no error and leave the policy Ready', async () => {
    world = await openWorld({ at: noon });
    replica = await world.replica();
    await world.create(changeFreezes, freeze('holiday', [start, end], { behavior: pausing }));

    const status = await replica.tick();

    expect(status).toBe(204);
    expect(freezeStatus('holiday')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Evaluated' }),
    );
    await world.close();
  });
});
