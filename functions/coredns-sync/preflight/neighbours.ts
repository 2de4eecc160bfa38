import type { ConfigMap, Deployment } from '../../../lib/kube/model/resource.ts';
import { annotationOf, instanceLabel, managedBy } from '../state/annotation.ts';
import { customConfigMap } from '../integration/detect.ts';
import { shardName } from '../integration/mount.ts';
import type { Mapping, Policy } from '../policy.ts';
import { mostShards } from '../settings/writing.ts';

/** ConfigMaps that CoreDNS mounts and that may hold rules of another instance; `rules` speaks for `rules-1`, too. */
export function neighboursIn(deployment: Deployment, { config }: Policy): readonly string[] {
  const own = Array.from({ length: mostShards }, (_, index) => shardName(config.DYNAMIC_CONFIGMAP_NAME, index));
  const known = new Set([config.COREDNS_CONFIGMAP_NAME, customConfigMap, ...own]);
  const mounted = (deployment.spec?.template.spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
    configMap?.name,
    ...(projected?.sources ?? []).map((source) => source.configMap?.name),
  ]);
  const names = new Set(mounted.filter((name) => name !== undefined));
  return [...names].filter((name) => !known.has(name) && !names.has(firstOf(name) ?? ''));
}

/** `rules` of `rules-12`. */
function firstOf(name: string): string | undefined {
  return /^(.+)-[1-9]\d*$/.exec(name)?.[1];
}

/** Such a ConfigMap as it was read; undefined when there is none. */
export interface Neighbour {
  readonly name: string;
  readonly object: ConfigMap | undefined | 'hidden';
}

/** What speaks against having this neighbour: both would answer for the same hosts, and which rule wins is chance. */
export function rivalry({ name, object }: Neighbour, { mappings }: Policy): string | undefined {
  if (object === 'hidden') {
    return `CoreDNS also mounts ConfigMap ${name}: whether it holds rules of another instance is unknown, since we may not read it`;
  }
  const { [managedBy]: manager = '', [instanceLabel]: instance = manager } = object?.metadata?.labels ?? {};
  const what = managers.includes(manager) ? overlap(annotationOf(object, 'classes'), mappings) : undefined;
  return what === undefined ? undefined : `instance ${instance}, whose rules are in ConfigMap ${name}, ${what}`;
}

function overlap(classes: string | undefined, mappings: readonly Mapping[]): string | undefined {
  const theirs = classes?.split(',');
  if (theirs === undefined) {
    return 'does not say which classes it serves';
  }
  const shared = classesOf(mappings).filter((each) => theirs.includes(each));
  return shared.length === 0 ? undefined : `serves ${shared.join(', ')} too`;
}

/** Us and the operator that we replace. */
const managers: readonly string[] = ['coredns-sync', 'coredns-ingress-sync'];

/** `Ingress/nginx`: what the objects that we serve are chosen by. */
export function classesOf(mappings: readonly Mapping[]): readonly string[] {
  return [...new Set(mappings.map(({ of, className }) => (className === '' ? of : `${of}/${className}`)))];
}
