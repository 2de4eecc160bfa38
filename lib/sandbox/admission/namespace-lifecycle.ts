import type { Attributes } from '../model/attributes.ts';
import type { InternalApi, KindRef } from '../model/internal.ts';
import { ApiError, forbidden, notFound } from '../model/status.ts';

const namespaces: KindRef = { group: '', plural: 'namespaces' };
const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Nothing new goes into a namespace that is missing or ending, and three namespaces never end. Throws the refusal. */
export function assertNamespaceAccepts(attributes: Attributes, api: Pick<InternalApi, 'get'>): void {
  const { operation, kind, name, namespace } = attributes;
  if (operation === 'DELETE' && isNamespace(attributes) && immortal.has(name)) {
    throw forbidden({ ...namespaces, name }, 'this namespace may not be deleted');
  }
  if (operation !== 'CREATE' || !kind.namespaced || attributes.subresource !== undefined) {
    return;
  }
  const found = api.get(namespaces, namespace);
  if (found === undefined) {
    throw notFound({ ...namespaces, name: namespace });
  }
  if (found.metadata?.deletionTimestamp !== undefined) {
    throw terminating(attributes);
  }
}

function isNamespace({ kind }: Attributes): boolean {
  return kind.group === '' && kind.plural === 'namespaces';
}

function terminating({ kind: { group, plural }, name, object, namespace }: Attributes): ApiError {
  const shown = name === '' ? (object?.metadata?.generateName ?? '') : name;
  const refusal = forbidden(
    { group, plural, name: shown },
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new ApiError(refusal.code, {
    ...refusal.refusal,
    details: { ...refusal.refusal.details, causes: [cause] },
  });
}
