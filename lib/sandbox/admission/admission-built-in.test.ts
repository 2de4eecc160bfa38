import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/model/wire.ts';
import { admitPod } from './admission-pods.ts';
import type { Attributes } from '../model/attributes.ts';
import type { InternalApi } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import { assertNamespaceAccepts } from './namespace-lifecycle.ts';
import { anyKind } from '../test/kind.ts';

const api: Pick<InternalApi, 'get'> = {
  get: (kind, name, namespace) => stored[[kind.plural, namespace, name].filter((part) => part).join('/')],
};

describe('namespaces', () => {
  it('take new objects', () => {
    expect(() => assertNamespaceAccepts(attributes(), api)).not.toThrow();
  });

  it('must exist', () => {
    expect(() => assertNamespaceAccepts(attributes({ namespace: 'none' }), api)).toThrow('namespaces "none" not found');
  });

  it('take nothing new while they end, but let changes through', () => {
    const ending = attributes({ namespace: 'ending', name: 'p' });

    expect(() => assertNamespaceAccepts({ ...ending, operation: 'UPDATE' }, api)).not.toThrow();
    expect(() => assertNamespaceAccepts(ending, api)).toThrow(
      expect.objectContaining({
        code: 403,
        message:
          'pods "p" is forbidden: unable to create new content in namespace ending because it is being terminated',
        status: expect.objectContaining({
          details: {
            name: 'p',
            kind: 'pods',
            causes: [
              {
                reason: 'NamespaceTerminating',
                message: 'namespace ending is being terminated',
                field: 'metadata.namespace',
              },
            ],
          },
        }) as unknown,
      }),
    );
  });

  it.each(['default', 'kube-system', 'kube-public'])('%s never ends', (name) => {
    const namespaces: Kind = { ...pods, plural: 'namespaces', kind: 'Namespace', namespaced: false };

    expect(() => assertNamespaceAccepts(attributes({ operation: 'DELETE', kind: namespaces, name }), api)).toThrow(
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  });
});

describe('a new pod', () => {
  it('gets an account with its token, tolerations and a priority', () => {
    const { spec } = admitted({ containers: [{ name: 'c' }] });

    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      containers: [
        { name: 'c', volumeMounts: [{ readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] },
      ],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    });
  });

  it('keeps what it says itself', () => {
    const { spec } = admitted({
      containers: [{ name: 'c' }],
      automountServiceAccountToken: false,
      priorityClassName: 'high',
      tolerations: [{ operator: 'Exists' }],
    });

    expect(spec).toMatchObject({
      containers: [{ name: 'c' }],
      priority: 1000,
      preemptionPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
    });
    expect(spec).not.toHaveProperty('volumes');
  });

  it.each([
    [
      { serviceAccountName: 'none' },
      'pods "p" is forbidden: error looking up service account a/none: serviceaccount "none" not found',
    ],
    [{ priorityClassName: 'none' }, 'pods "p" is forbidden: no PriorityClass with name none was found'],
  ])('is refused with %j', (changes, message) => {
    expect(() => admitted({ containers: [{ name: 'c' }], ...changes })).toThrow(message);
  });

  it('is left alone afterwards', () => {
    const update = attributes({ operation: 'UPDATE' });

    expect(admitPod(update, api)).toBe(update.object);
  });
});

const pods = anyKind({ plural: 'pods', kind: 'Pod', listKind: 'PodList', singular: 'pod' });

const stored: Readonly<Record<string, KubeObject>> = {
  'namespaces/a': { metadata: { name: 'a' } },
  'namespaces/ending': { metadata: { name: 'ending', deletionTimestamp: '2026-01-01T00:00:00Z' } },
  'serviceaccounts/a/default': { metadata: { name: 'default' } },
  'priorityclasses/high': { metadata: { name: 'high' }, ...{ value: 1000, preemptionPolicy: 'Never' } },
};

function admitted(spec: object): KubeObject & { spec?: unknown } {
  const object: KubeObject = { metadata: { name: 'p' }, ...{ spec } };
  return { ...admitPod(attributes({ object }), api) };
}

function attributes(changes: Partial<Attributes> = {}): Attributes {
  return {
    operation: 'CREATE',
    kind: pods,
    name: 'p',
    namespace: 'a',
    object: { metadata: { name: 'p' }, ...{ spec: { containers: [] } } },
    caller: { username: 'bob', groups: [] },
    dryRun: false,
    options: {},
    warn: () => undefined,
    ...changes,
  };
}
