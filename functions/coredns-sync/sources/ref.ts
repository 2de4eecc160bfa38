import { groupVersion } from '../../../lib/kube/model/resource.ts';
import type { Subject } from '../../../lib/function/triggers.ts';
import type { Policy } from '../policy.ts';
import { sourcesOf } from './index.ts';
import { isNamedInScope } from './scope.ts';
import type { Source } from './source.ts';
import { sourceName } from './wanted.ts';

/** An object that may ask for hosts, by name. */
export interface SourceRef {
  readonly source: Source;
  readonly namespace: string;
  readonly name: string;
  /** `Ingress/shop/web`. */
  readonly key: string;
}

/** The objects that events speak of, without those whose names alone put them out of scope. */
export function refsOf(subjects: readonly Subject[], policy: Policy): readonly SourceRef[] {
  return subjects.flatMap(({ apiVersion, kind, namespace = '', name }) => {
    const { group } = groupVersion(apiVersion);
    const source = sourcesOf(policy).find(({ resource }) => resource.kind === kind && resource.group === group);
    return source !== undefined && isNamedInScope(policy, source, namespace, name)
      ? [{ source, namespace, name, key: sourceName(source, { namespace, name }) }]
      : [];
  });
}

/** The object of a claim, as `Ingress/shop/web` names it; none where its kind no longer counts. */
export function refOf(key: string, policy: Policy): readonly SourceRef[] {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  const source = sourcesOf(policy).find(({ resource }) => resource.kind === kind);
  return source === undefined ? [] : [{ source, namespace, name, key }];
}
