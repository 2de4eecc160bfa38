import { describe, expect, it } from '@jest/globals';
import { CloudEvent, HTTP } from 'cloudevents';
import type { KubeObject } from '../kube/model/wire.ts';
import { changeEvent, tickEvent, type ChangedObject, type Mode } from './event.ts';

const stamp = { id: '7a0d8e62-4f0e-4b4f-8b89-3a1d9ad0c1b1', time: new Date('2026-03-01T10:00:00.123Z') };
const origin = { server: new URL('https://10.96.0.1:443'), namespace: 'reflex' };

const ingress: KubeObject & { readonly spec: unknown } = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', managedFields: [{ manager: 'kubectl' }] },
  spec: { rules: [{ host: 'näh.example' }] },
};

const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', resourceVersion: '8' } };

function message(changed: ChangedObject, mode: Mode) {
  return changeEvent(changed, mode, origin, stamp);
}

describe('the event of a change', () => {
  it('refers to the object, in Reference mode', () => {
    const { headers, body } = message({ change: 'add', object: ingress }, 'Reference');

    expect(headers).toEqual({
      'ce-specversion': '1.0',
      'ce-id': stamp.id,
      'ce-time': '2026-03-01T10:00:00.123Z',
      'ce-type': 'dev.knative.apiserver.ref.add',
      'ce-source': 'https://10.96.0.1:443',
      'ce-subject': '/apis/networking.k8s.io/v1/namespaces/shop/ingresses/web',
      'ce-kind': 'Ingress',
      'ce-apiversion': 'networking.k8s.io/v1',
      'ce-name': 'web',
      'ce-namespace': 'shop',
      'content-type': 'application/json',
      'kn-namespace': 'reflex',
    });
    expect(body).toBe('{"kind":"Ingress","namespace":"shop","name":"web","apiVersion":"networking.k8s.io/v1"}');
  });

  it('carries the whole object, in Resource mode', () => {
    const { headers, body } = message({ change: 'update', object: ingress }, 'Resource');

    expect(headers['ce-type']).toBe('dev.knative.apiserver.resource.update');
    expect(JSON.parse(body)).toEqual(ingress);
  });

  it('has an empty namespace for an object of the cluster, and /apis for the core group too', () => {
    const { headers, body } = message({ change: 'delete', object: node }, 'Reference');

    expect(headers).toMatchObject({
      'ce-type': 'dev.knative.apiserver.ref.delete',
      'ce-namespace': '',
      'ce-subject': '/apis/v1/namespaces//nodes/n1',
    });
    expect(JSON.parse(body)).toEqual({ kind: 'Node', name: 'n1', apiVersion: 'v1' });
  });

  it.each([
    ['Pod', 'pods'],
    ['Ingress', 'ingresses'],
    ['NetworkPolicy', 'networkpolicies'],
    ['Endpoints', 'endpoints'],
    ['Gateway', 'gatewaies'],
  ])('guesses the plural of %s as the adapter does: %s', (kind, plural) => {
    const object = { ...node, kind };

    expect(message({ change: 'add', object }, 'Reference').headers['ce-subject']).toBe(
      `/apis/v1/namespaces//${plural}/n1`,
    );
  });

  it.each([
    ['https://10.96.0.1:443', 'https://10.96.0.1:443'],
    ['https://cluster.example', 'https://cluster.example:443'],
    ['http://127.0.0.1:8002/', 'http://127.0.0.1:8002'],
    ['https://[::1]:6443/k8s/clusters/c-1', 'https://[::1]:6443/k8s/clusters/c-1'],
  ])('from the server %s has the source %s', (server, source) => {
    const { headers } = changeEvent(
      { change: 'add', object: node },
      'Reference',
      { server: new URL(server), namespace: 'reflex' },
      stamp,
    );

    expect(headers['ce-source']).toBe(source);
  });

  it('puts any name that Kubernetes allows into headers that HTTP allows', () => {
    const object = { ...node, metadata: { name: 'système:\ud800 kontrolleur' } };

    const { headers, body } = message({ change: 'add', object }, 'Reference');

    expect(headers['ce-name']).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(body)).toMatchObject({ name: object.metadata.name });
  });

  it('is read back by a receiver', () => {
    const event = HTTP.toEvent(message({ change: 'add', object: node }, 'Resource'));

    expect(event).toBeInstanceOf(CloudEvent);
    expect((event as CloudEvent).validate()).toBe(true);
    expect(event).toMatchObject({ kind: 'Node', namespace: '', data: node });
  });
});

describe('the event of a tick', () => {
  it('is that of a PingSource without data', () => {
    expect(tickEvent('coredns-sync-tick', 'reflex', stamp)).toEqual({
      headers: {
        'ce-specversion': '1.0',
        'ce-id': stamp.id,
        'ce-time': '2026-03-01T10:00:00.123Z',
        'ce-type': 'dev.knative.sources.ping',
        'ce-source': '/apis/v1/namespaces/reflex/pingsources/coredns-sync-tick',
        'kn-namespace': 'reflex',
      },
      body: '',
    });
  });
});
