import { apiVersion } from '../../../lib/kube/model/resource.ts';
import type { KubeObject, Metadata } from '../../../lib/kube/model/wire.ts';
import type { Claim } from '../claim.ts';
import { isRefused, parseHost, type Refusal } from '../host.ts';
import type { Policy } from '../policy.ts';
import { recordOf, type SourceRecord } from '../state/record.ts';
import { hostKey } from '../rule.ts';
import { isInScope, priorityOf } from './scope.ts';
import type { Source, World } from './source.ts';

/** What follows from one object as it is. */
export interface Wanted {
  readonly source: string;
  /** The object by name, uid and version; undefined when there is none, or nothing to tell about it. */
  readonly about: KubeObject | undefined;
  readonly claims: readonly Claim[];
  readonly refused: readonly RefusedHost[];
  /** Undefined for an object that has nothing to do with us. */
  readonly record: SourceRecord | undefined;
}

export interface RefusedHost {
  readonly reason: Refusal;
  readonly why: string;
}

/** Nearly all objects share it: there may be tens of thousands. */
const nothingRefused: readonly RefusedHost[] = [];

function listOf(refused: ReadonlyMap<string, RefusedHost>): readonly RefusedHost[] {
  return refused.size === 0 ? nothingRefused : [...refused.values()];
}

export function sourceName(
  { resource }: Pick<Source, 'resource'>,
  { namespace = '', name = '' }: { namespace?: string; name?: string },
): string {
  return `${resource.kind}/${namespace}/${name}`;
}

export function nothingWanted(source: string, about?: KubeObject): Wanted {
  return { source, about, claims: [], refused: nothingRefused, record: undefined };
}

/** Each host that an object asks for is a claim or is refused; one bad host never spoils the others. */
export function wantedBy<T extends KubeObject>(source: Source<T>, object: T, { policy, world }: Context): Wanted {
  const { metadata = {} } = object;
  const name = sourceName(source, metadata);
  const about = aboutOf(source, metadata);
  if (!isInScope(object, policy, world)) {
    return nothingWanted(name, about);
  }
  const priority = priorityOf(object, policy);
  const created = Math.floor(Date.parse(metadata.creationTimestamp ?? '') / 1000) || 0;
  const claims = new Map<string, Claim>();
  const refused = new Map<string, RefusedHost>();
  for (const { host: text, mapping } of source.asks(object, policy, world)) {
    const host = parseHost(text, source.wildcard, policy.hosts);
    if (isRefused(host)) {
      refused.set(text, { reason: host.refused, why: host.why });
    } else {
      const known = claims.get(hostKey(host));
      const best = Math.min(mapping, known?.mapping ?? mapping);
      claims.set(hostKey(host), { ...host, source: name, mapping: best, priority, created });
    }
  }
  const found = { source: name, about, claims: [...claims.values()], refused: listOf(refused) };
  const concerned = found.claims.length + found.refused.length > 0;
  const detail = [metadata.uid, [...refused.keys()]];
  return { ...found, record: concerned ? recordOf(name, found.claims, detail) : undefined };
}

function aboutOf(
  { resource }: Pick<Source, 'resource'>,
  { namespace, name, uid, resourceVersion }: Metadata,
): KubeObject {
  const metadata = { namespace, name, uid, resourceVersion } as Metadata;
  return { apiVersion: apiVersion(resource), kind: resource.kind, metadata };
}

interface Context {
  readonly policy: Policy;
  readonly world: World;
}
