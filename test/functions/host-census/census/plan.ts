import { pointer, unchanged, type Plan } from '../../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap, type Ingress } from '../../../../lib/kube/model/resource.ts';

export interface Observed {
  readonly census: ConfigMap | undefined;
  readonly hosts: readonly Host[];
}

export interface Host {
  readonly name: string;
  /** `namespace/ingress` that asks for it. */
  readonly from: string;
}

const hostname = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Writes every host once, sorted. Equal input gives byte-equal text, so a repeat plans nothing. */
export function plan({ census, hosts }: Observed, place: { readonly namespace: string; readonly name: string }): Plan {
  const skipped = hosts
    .filter(({ name }) => !hostname.test(name))
    .map(({ name, from }) => `${from}: bad host ${JSON.stringify(name)}`);
  const names = [...new Set(hosts.map(({ name }) => name).filter((name) => hostname.test(name)))].sort();
  const text = names.map((name) => `${name}\n`).join('');
  const why = `${names.length} hosts`;
  if (census === undefined) {
    const object: ConfigMap = { metadata: place, data: { hosts: text } };
    return { steps: [{ do: 'create', resource: configMaps, object, why }], skipped };
  }
  if (census.data?.['hosts'] === text) {
    return { steps: [], skipped };
  }
  const operations = [unchanged(census), { op: 'add' as const, path: pointer('data'), value: { hosts: text } }];
  return { steps: [{ do: 'patch', resource: configMaps, ...place, operations, why }], skipped };
}

/** The hosts that an Ingress asks for. */
export function hostsOf({ metadata, spec }: Ingress): Host[] {
  const from = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  return (spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [{ name: host, from }]));
}
