import { ingresses, type Ingress, type IngressClass } from '../../../lib/kube/model/resource.ts';
import { mappingOf, type Policy } from '../policy.ts';
import { compareText } from '../../../lib/base/order.ts';
import type { Ask, Needs, Source, World } from './source.ts';

const legacyClass = 'kubernetes.io/ingress.class';
const defaultClass = 'ingressclass.kubernetes.io/is-default-class';

export const ingressSource: Source<Ingress> = {
  resource: ingresses,
  custom: false,
  excluded: 'EXCLUDE_INGRESSES',
  wildcard: 'label',
  reads: { spec: { ingressClassName: true, rules: { host: true }, tls: { hosts: true } } },
  refersTo: ['classes'],
  needs,
  asks,
};

function needs(ingress: Ingress, { config }: Policy): Needs {
  return { classes: config.UNCLASSED === 'default' && ownClass(ingress, config) === undefined };
}

function asks(ingress: Ingress, policy: Policy, { classes }: World): readonly Ask[] {
  const { config } = policy;
  const fallback = config.UNCLASSED === 'default' ? nameOfDefault(classes) : undefined;
  const className = ownClass(ingress, config) ?? fallback;
  const mapping = className === undefined ? undefined : mappingOf(policy, 'Ingress', className);
  if (mapping === undefined) {
    return [];
  }
  const { rules = [], tls = [] } = ingress.spec ?? {};
  const hosts = [
    ...rules.map(({ host }) => host ?? ''),
    ...(config.INCLUDE_TLS_HOSTS ? tls.flatMap((entry) => entry.hosts ?? []) : []),
  ];
  return hosts.filter((host) => host !== '').map((host) => ({ host, mapping }));
}

/** A class that is there and empty is still one: no mapping has it. */
function ownClass({ metadata, spec }: Ingress, config: Policy['config']): string | undefined {
  const annotated = config.LEGACY_CLASS_ANNOTATION ? metadata?.annotations?.[legacyClass] : undefined;
  return spec?.ingressClassName ?? annotated;
}

/** The newest of several, as the admission plugin chooses; then the lowest name. */
function nameOfDefault(classes: readonly IngressClass[]): string | undefined {
  const [first] = classes
    .filter(({ metadata }) => metadata?.annotations?.[defaultClass] === 'true')
    .map(({ metadata }) => ({ name: metadata?.name ?? '', created: metadata?.creationTimestamp ?? '' }))
    .sort((left, right) => compareText(right.created, left.created) || compareText(left.name, right.name));
  return first?.name;
}
