import type { Namespace } from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { keyOf, parseKey } from '../controllers/owned.ts';
import { createQueue } from '../controllers/queue.ts';
import { breathe, removeObject } from '../controllers/writes.ts';
import { subscribeToEveryKind } from './every-kind.ts';
import { type Caller, controller, type InternalApi, type KindRef } from '../model/internal.ts';
import { ApiError } from '../model/status.ts';
import { at, objectAt } from '../schema/value.ts';

const namespaces: KindRef = { group: '', plural: 'namespaces' };
const accounts: KindRef = { group: '', plural: 'serviceaccounts' };
const configMaps: KindRef = { group: '', plural: 'configmaps' };
const rootCa = 'kube-root-ca.crt';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as ' +
  'the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';
const objectsPerTurn = 100;
/** While a namespace empties, it is looked at this often and not for each object that goes. */
const restMs = 20;

const namespaceController: Caller = controller('namespace');
const accountController: Caller = controller('service-account');
const publisher: Caller = {
  ...controller('root-ca'),
  username: 'system:serviceaccount:kube-system:root-ca-cert-publisher',
};

/** Furnishes every namespace (with the certificate of the API when there is one), and empties and removes those that end. The answer stops it. */
export function startNamespaces(api: InternalApi, ca?: string): () => void {
  const queue = createQueue(api.clock, look, { restMs: (key) => (isEnding(api, key) ? restMs : 0) });

  async function look(key: string): Promise<void> {
    const namespace = api.get(namespaces, parseKey(key).name) as Namespace | undefined;
    if (namespace === undefined) {
      return;
    }
    if (namespace.metadata?.deletionTimestamp === undefined) {
      await furnish(api, namespace.metadata?.name ?? '', ca);
    } else if (await isEmptied(api, namespace.metadata.name ?? '')) {
      await finalize(api, namespace);
    }
  }

  /** What leaves a namespace may be the last thing it waits for, or one that it always has. */
  const stop = subscribeToEveryKind(api, (kind, { type, object }) => {
    if (kind.group === '' && kind.plural === 'namespaces') {
      queue.add(keyOf(object));
    } else if (kind.namespaced && (type === 'DELETED' || isFurniture(kind, object))) {
      queue.add(`/${object.metadata?.namespace ?? ''}`);
    }
  });
  for (const namespace of api.list(namespaces)) {
    queue.add(keyOf(namespace));
  }
  return () => {
    queue.close();
    stop();
  };
}

function isEnding(api: InternalApi, key: string): boolean {
  return api.get(namespaces, parseKey(key).name)?.metadata?.deletionTimestamp !== undefined;
}

function isFurniture({ group, plural }: KindRef, { metadata }: KubeObject): boolean {
  return group === '' && plural === 'configmaps' && metadata?.name === rootCa;
}

async function furnish(api: InternalApi, namespace: string, ca: string | undefined): Promise<void> {
  if (api.get(accounts, 'default', namespace) === undefined) {
    await createUnlessPresent(api, accounts, { metadata: { name: 'default', namespace } }, accountController);
  }
  if (ca !== undefined) {
    await publish(api, namespace, ca);
  }
}

async function publish(api: InternalApi, namespace: string, ca: string): Promise<void> {
  const data = { 'ca.crt': ca };
  const found = api.get(configMaps, rootCa, namespace);
  if (found === undefined) {
    const annotations = { 'kubernetes.io/description': description };
    await createUnlessPresent(
      api,
      configMaps,
      { metadata: { name: rootCa, namespace, annotations }, ...{ data } },
      publisher,
    );
  } else if (at(found, 'data', 'ca.crt') !== ca) {
    await api.update(configMaps, { ...found, ...{ data } }, {}, publisher);
  }
}

async function createUnlessPresent(api: InternalApi, kind: KindRef, object: KubeObject, as: Caller): Promise<void> {
  try {
    await api.create(kind, object, as);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 409)) {
      throw error;
    }
  }
}

/** Deletes what is inside; true when nothing is left. */
async function isEmptied(api: InternalApi, namespace: string): Promise<boolean> {
  let found = 0;
  for (const kind of api.kinds().filter(({ namespaced }) => namespaced)) {
    for (const object of api.list(kind, { namespace })) {
      found += 1;
      if (object.metadata?.deletionTimestamp === undefined) {
        await removeObject(api, kind, object, namespaceController);
      }
      if (found % objectsPerTurn === 0) {
        await breathe();
      }
    }
  }
  return found === 0 || isEmpty(api, namespace);
}

function isEmpty(api: InternalApi, namespace: string): boolean {
  return api.kinds().every((kind) => !kind.namespaced || api.list(kind, { namespace }).length === 0);
}

async function finalize(api: InternalApi, namespace: Namespace): Promise<void> {
  const { finalizers = [], ...spec } = objectAt(namespace, 'spec') as { finalizers?: readonly string[] };
  const left = finalizers.filter((finalizer) => finalizer !== 'kubernetes');
  const next = { ...namespace, spec: { ...spec, ...(left.length > 0 && { finalizers: [...left] }) } };
  await api.update(namespaces, next, { subresource: 'finalize' }, namespaceController);
}
