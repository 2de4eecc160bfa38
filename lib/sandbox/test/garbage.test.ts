import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configMaps, namespaces, pods, secrets, type Resource } from '../../kube/model/resource.ts';
import type { KubeObject, OwnerReference } from '../../kube/model/wire.ts';
import type { PropagationPolicy } from '../model/internal.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';
import { eventually, settle, turnedClock, type TurnedClock } from './turned-clock.ts';

const namespace = 'default';
const roles = { group: 'rbac.authorization.k8s.io', plural: 'clusterroles' };

let clock: TurnedClock;
let sandbox: Sandbox;

beforeEach(async () => {
  clock = turnedClock();
  sandbox = await startSandbox({ clock, podReadyMs: 0 });
  await eventually(() => exists(serviceAccounts, 'default'), 'the namespace is furnished');
});

afterEach(() => sandbox.close());

describe('what is owned', () => {
  it('goes with its owner in the background', async () => {
    const owner = await create('owner');
    const child = await create('child', [reference(owner)]);
    await create('grandchild', [reference(child)]);

    await remove('owner', 'Background');
    await eventually(() => !exists(configMaps, 'grandchild'), 'the grandchild is gone');

    expect(names()).toEqual([]);
  });

  it('goes before its owner in the foreground', async () => {
    const owner = await create('owner');
    await create('child', [{ ...reference(owner), blockOwnerDeletion: true }], ['example.com/hold']);

    await remove('owner', 'Foreground');
    await eventually(() => read('child')?.metadata?.deletionTimestamp, 'the child is being deleted');
    await settle();
    expect(read('owner')?.metadata?.finalizers).toEqual(['foregroundDeletion']);
    await release(configMaps, 'child', namespace);
    await eventually(() => !exists(configMaps, 'owner'), 'the owner is gone');

    expect(names()).toEqual([]);
  });

  it('does not hold its owner in the foreground unless it blocks', async () => {
    const owner = await create('owner');
    await create('child', [reference(owner)], ['example.com/hold']);

    await remove('owner', 'Foreground');

    await eventually(() => !exists(configMaps, 'owner'), 'the owner is gone');
    await eventually(() => read('child')?.metadata?.deletionTimestamp, 'the child is being deleted');
  });

  it('stays behind when it is orphaned', async () => {
    const owner = await create('owner');
    await create('child', [reference(owner)]);

    await remove('owner', 'Orphan');
    await eventually(() => !exists(configMaps, 'owner'), 'the owner is gone');
    await settle();

    expect(read('child')?.metadata?.ownerReferences).toBeUndefined();
  });

  it('stays while one of its owners is left, without the others', async () => {
    const [first, second] = [await create('first'), await create('second')];
    await create('child', [reference(first), reference(second)]);

    await remove('first', 'Background');
    await eventually(() => read('child')?.metadata?.ownerReferences?.length === 1, 'one owner is left');

    expect(read('child')?.metadata?.ownerReferences).toEqual([reference(second)]);
  });

  it.each([
    ['of another uid', 'there', 'ConfigMap'],
    ['that never was', 'nowhere', 'ConfigMap'],
  ])('goes when its owner is one %s', async (_name, owner, kind) => {
    await create('there');
    await create('child', [{ apiVersion: 'v1', kind, name: owner, uid: 'other' }]);

    await eventually(() => !exists(configMaps, 'child'), 'the child is gone');
  });

  it('stays when nothing is known of the kind of its owner', async () => {
    await create('child', [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'x', uid: 'y' }]);
    await settle();

    expect(exists(configMaps, 'child')).toBe(true);
  });

  it('stays when its owner could only be in a namespace and it is in none', async () => {
    const owner = await create('owner');
    await sandbox.api.create(roles, { metadata: { name: 'wide', ownerReferences: [reference(owner)] } });
    await remove('owner', 'Background');
    await settle();

    expect(sandbox.api.get(roles, 'wide')).toBeDefined();
  });

  it('looks for its owner in its own namespace', async () => {
    const owner = await create('owner');
    await sandbox.api.create(namespaces, { metadata: { name: 'far' } });
    await sandbox.api.create(secrets, {
      metadata: { name: 'child', namespace: 'far', ownerReferences: [reference(owner)] },
    });

    await eventually(() => sandbox.api.get(secrets, 'child', 'far') === undefined, 'the child is gone');
  });
});

describe('a namespace', () => {
  it('has an account and the certificate of the API, also after somebody took them', async () => {
    await sandbox.api.create(namespaces, { metadata: { name: 'home' } });
    await eventually(() => sandbox.api.get(serviceAccounts, 'default', 'home'), 'the account is there');
    await eventually(() => sandbox.api.get(configMaps, 'kube-root-ca.crt', 'home'), 'the certificate is there');

    await sandbox.api.remove(configMaps, { name: 'kube-root-ca.crt', namespace: 'home' });
    await eventually(() => sandbox.api.get(configMaps, 'kube-root-ca.crt', 'home'), 'the certificate is back');

    expect(sandbox.api.get(configMaps, 'kube-root-ca.crt', 'home')).toMatchObject({ data: { 'ca.crt': sandbox.ca } });
  });

  it('ends with all that is in it', async () => {
    await sandbox.api.create(namespaces, { metadata: { name: 'home' } });
    await eventually(() => sandbox.api.get(serviceAccounts, 'default', 'home'), 'the account is there');
    await sandbox.api.create(secrets, { metadata: { name: 's', namespace: 'home' } });
    await sandbox.api.create(pods, {
      metadata: { name: 'p', namespace: 'home' },
      ...{ spec: { containers: [{ name: 'c', image: 'i' }] } },
    });

    await sandbox.api.remove(namespaces, { name: 'home' });
    expect(sandbox.api.get(namespaces, 'home')).toMatchObject({ status: { phase: 'Terminating' } });
    await expect(sandbox.api.create(secrets, { metadata: { name: 't', namespace: 'home' } })).rejects.toThrow(
      'unable to create new content in namespace home because it is being terminated',
    );
    await eventually(() => {
      clock.turn(10);
      return sandbox.api.get(namespaces, 'home') === undefined;
    }, 'the namespace is gone');

    expect(sandbox.api.list(pods, { namespace: 'home' })).toEqual([]);
  });

  it('waits for what cannot go yet', async () => {
    await sandbox.api.create(namespaces, { metadata: { name: 'home' } });
    const held = { metadata: { name: 's', namespace: 'home', finalizers: ['example.com/hold'] } };
    await sandbox.api.create(secrets, held);

    await sandbox.api.remove(namespaces, { name: 'home' });
    await eventually(() => sandbox.api.get(secrets, 's', 'home')?.metadata?.deletionTimestamp, 'it is being deleted');
    await settle();
    expect(sandbox.api.get(namespaces, 'home')).toBeDefined();
    await release(secrets, 's', 'home');

    await eventually(() => {
      clock.turn(10);
      return sandbox.api.get(namespaces, 'home') === undefined;
    }, 'the namespace is gone');
  });
});

const serviceAccounts = { group: '', plural: 'serviceaccounts' };

function exists(kind: Pick<Resource, 'group' | 'plural'>, name: string): boolean {
  return sandbox.api.get(kind, name, namespace) !== undefined;
}

function read(name: string): KubeObject | undefined {
  return sandbox.api.get(configMaps, name, namespace);
}

function names(): string[] {
  return sandbox.api
    .list(configMaps, { namespace })
    .map(({ metadata }) => metadata?.name ?? '')
    .filter((name) => name !== 'kube-root-ca.crt');
}

function create(name: string, ownerReferences: OwnerReference[] = [], finalizers: string[] = []): Promise<KubeObject> {
  return sandbox.api.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      ...(ownerReferences.length > 0 && { ownerReferences }),
      ...(finalizers.length > 0 && { finalizers }),
    },
  });
}

function reference({ metadata }: KubeObject): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
}

async function release(kind: Pick<Resource, 'group' | 'plural'>, name: string, place: string): Promise<void> {
  const object = sandbox.api.get(kind, name, place);
  const { finalizers: _held, ...metadata } = object?.metadata ?? {};
  await sandbox.api.update(kind, { ...object, metadata });
}

function remove(name: string, propagationPolicy: PropagationPolicy): Promise<void> {
  return sandbox.api.remove(configMaps, { name, namespace }, { propagationPolicy });
}
