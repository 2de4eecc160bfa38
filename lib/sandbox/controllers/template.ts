import type { V1PodTemplateSpec } from '@kubernetes/client-node';
import type { Pod } from '../../kube/model/resource.ts';
import type { KubeObject, OwnerReference, Wire } from '../../kube/model/wire.ts';

export type PodTemplate = Wire<V1PodTemplateSpec>;

/** Letters and digits that spell no words, as Kubernetes uses in names. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for the content of a template; `collisions` gives another one when it is taken. */
export function contentHash(content: unknown, collisions = 0): string {
  const hash = fnv1a(`${canonical(content)}${collisions === 0 ? '' : collisions}`);
  return String(hash).replaceAll(/\d/g, (digit) => alphabet.charAt(digit.charCodeAt(0) % alphabet.length));
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

/** JSON with sorted keys: equal content gives equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** The reference by which a controller owns what it makes. */
export function controllerReference(owner: KubeObject, apiVersion: string, kind: string): OwnerReference {
  const { name = '', uid = '' } = owner.metadata ?? {};
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function podFrom(template: PodTemplate, namespace: string, owner: OwnerReference): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.name}-`,
      namespace,
      ownerReferences: [owner],
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
    },
    ...(template.spec && { spec: template.spec }),
  };
}
