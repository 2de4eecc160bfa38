import type { Ingress } from '../../../../lib/kube/model/resource.ts';

export interface Host {
  readonly name: string;
  /** `namespace/ingress` that asks for it. */
  readonly from: string;
}

const hostname = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The hosts that an Ingress asks for. */
export function hostsOf({ metadata, spec }: Ingress): Host[] {
  const from = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  return (spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [{ name: host, from }]));
}

export function isValid({ name }: Host): boolean {
  return hostname.test(name);
}

/** Each valid name once, sorted. */
export function namesOf(hosts: readonly Host[]): string[] {
  return [...new Set(hosts.filter(isValid).map(({ name }) => name))].sort();
}

/** What to report where there are more names than may be listed. */
export function overfull(hosts: readonly Host[], most: number): string[] {
  const { length } = namesOf(hosts);
  return length > most ? [`${length} hosts exceed MAX_HOSTS=${most}; ${length - most} are left out`] : [];
}
