import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { configMaps, ingresses, type Ingress } from '../../../../lib/kube/model/resource.ts';
import { send } from '../../../support/http.ts';
import { waitUntil } from '../../../real/parts/wait.ts';
import { openWorld, ownNamespace, type Replica, type World } from '../../../support/world.ts';
import hostCensus from '../index.ts';

const census = { namespace: ownNamespace, name: 'host-census' };
let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await openWorld();
  replica = await world.start(hostCensus);
}, 60_000);
afterAll(() => world.close());

function ingress(name: string, ...hosts: readonly string[]): Ingress {
  const http = {
    paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
  };
  return { metadata: { namespace: 'default', name }, spec: { rules: hosts.map((host) => ({ host, http })) } };
}

async function hosts(): Promise<string | undefined> {
  return (await world.get(configMaps, census))?.data?.['hosts'];
}

describe('host-census', () => {
  it('lists the hosts of all Ingresses once an event or a tick wakes it', async () => {
    await world.apply(ingresses, ingress('one', 'b.example', 'a.example'));
    expect(await replica.event('add', ingresses, { namespace: 'default', name: 'one' })).toBe(204);
    expect(await hosts()).toBe('a.example\nb.example\n');

    await world.apply(ingresses, ingress('two', 'c.example'));
    expect(await replica.tick()).toBe(204);
    expect(await hosts()).toBe('a.example\nb.example\nc.example\n');
  });

  it('removes the hosts of an Ingress that is gone', async () => {
    await world.remove(ingresses, { namespace: 'default', name: 'two' });

    expect(await replica.event('delete', ingresses, { namespace: 'default', name: 'two' })).toBe(204);
    expect(await hosts()).toBe('a.example\nb.example\n');
  });

  it('writes nothing when nothing has changed', async () => {
    const before = replica.calls.length;

    await replica.tick();

    const writes = replica.calls.slice(before).filter(({ verb }) => verb !== 'get' && verb !== 'list');
    expect(writes).toEqual([]);
  });

  it('reports CensusFull while there are more hosts than it may list, and no longer', async () => {
    const many = Array.from({ length: 4 }, (_, index) => `host-${index}.example`);
    await world.apply(ingresses, ingress('many', ...many));
    const small = await world.start(hostCensus, { environment: { MAX_HOSTS: '3' } });

    expect(await small.tick()).toBe(204);
    expect(await small.read('/status')).toMatchObject({
      conditions: [{ type: 'CensusFull', severity: 'error', messages: ['6 hosts exceed MAX_HOSTS=3; 3 are left out'] }],
    });

    await world.remove(ingresses, { namespace: 'default', name: 'many' });
    await world.remove(ingresses, { namespace: 'default', name: 'one' });
    expect(await small.tick()).toBe(204);
    expect(await small.read('/status')).toMatchObject({ conditions: [] });
  });

  it('reports RightMissing while the account lacks a right, and works again once it is granted', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/kube-reflex-host-census';
    const { body } = await world.client.call('GET', role);
    await world.client.call('DELETE', role);
    await waitUntil('the right is gone', async () => (await replica.tick()) === 503);

    expect(await replica.read('/status')).toMatchObject({
      conditions: [
        {
          type: 'RightMissing',
          messages: expect.arrayContaining(['could not list ingresses.networking.k8s.io: forbidden']),
        },
      ],
    });

    const { rules } = body as { readonly rules?: unknown };
    const again = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'kube-reflex-host-census' },
      rules,
    };
    await world.client.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { body: again });
    await waitUntil('the right is back', async () => (await replica.tick()) === 204);
    expect(await replica.read('/status')).toMatchObject({ conditions: [] });
  });

  it('does not take what the doctor may not look at for a missing right', async () => {
    const withoutCertificate = await world.start(hostCensus, { environment: { TLS_MODE: 'none' } });

    await send(withoutCertificate.app.url, { method: 'GET', path: '/doctor' });

    expect(withoutCertificate.calls.filter(({ missingRight }) => missingRight !== undefined)).not.toEqual([]);
    expect(await withoutCertificate.read('/status')).toMatchObject({ conditions: [] });
  });
});
