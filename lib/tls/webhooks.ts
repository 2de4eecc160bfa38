import type { X509Certificate } from 'node:crypto';
import type { Operation } from 'fast-json-patch';
import type { Admission } from '../function/admission.ts';
import { pointer, unchanged, type PatchStep } from '../kube/model/plan.ts';
import {
  mutatingWebhooks,
  validatingWebhooks,
  type MutatingWebhookConfiguration,
  type Resource,
  type ValidatingWebhookConfiguration,
} from '../kube/model/resource.ts';
import { clusterName } from '../function/names.ts';
import { decodeBundle, encodeBundle, mergedBundle, type BundleWish, type Record } from './bundle.ts';
import { fingerprint, sameCertificate } from './certificate.ts';

export type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** A configuration object, and those of its entries that a function answers. */
export interface Target {
  readonly resource: Resource<Configuration>;
  readonly name: string;
  readonly entries: readonly string[];
}

/** Our entries are those that call this Service. */
export interface Owner {
  /** The function. */
  readonly name: string;
  readonly service: string;
  readonly namespace: string;
}

/** The configuration objects of these admissions. */
export function targetsOf(functionName: string, admissions: readonly Pick<Admission, 'type' | 'webhooks'>[]): Target[] {
  const entries = admissions.flatMap(({ type, webhooks }) =>
    webhooks.map(({ name: entry, configuration }) => ({
      resource: type === 'mutating' ? mutatingWebhooks : validatingWebhooks,
      name: configuration ?? clusterName(functionName),
      entry,
    })),
  );
  const groups = Map.groupBy(entries, ({ resource, name }) => `${resource.kind} ${name}`);
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map(({ resource, name }) => ({ resource, name, entries: group.map(({ entry }) => entry) })),
  );
}

/** Our entries in a configuration, each with its index and its bundle. */
export function ownEntries(
  { webhooks = [] }: Configuration,
  { entries }: Target,
  owner: Owner,
): { readonly index: number; readonly trusted: readonly X509Certificate[] }[] {
  return webhooks.flatMap(({ name, clientConfig }, index) => {
    const { service, caBundle } = clientConfig;
    const ours = entries.includes(name) && service?.name === owner.service && service.namespace === owner.namespace;
    return ours ? [{ index, trusted: decodeBundle(caBundle) }] : [];
  });
}

/** Whether every entry of ours trusts the authority. */
export function trusts(
  configuration: Configuration,
  { target, owner, authority }: { readonly target: Target; readonly owner: Owner; readonly authority: X509Certificate },
): boolean {
  return ownEntries(configuration, target, owner).every(({ trusted }) =>
    trusted.some((one) => sameCertificate(one, authority)),
  );
}

/** The step that writes the bundles of our entries, or `undefined`. It touches only `caBundle` and our annotation. */
export function publishStep(
  configuration: Configuration,
  {
    target,
    owner,
    wish,
  }: { readonly target: Target; readonly owner: Owner; readonly wish: Omit<BundleWish, 'record'> },
): PatchStep | undefined {
  const record = recordOf(configuration, owner);
  const entries = ownEntries(configuration, target, owner).map(({ index, trusted }) => {
    const merged = mergedBundle(trusted, { ...wish, record });
    return { index, merged, trusts: merged ?? trusted };
  });
  const bundles = entries.flatMap(({ index, merged }): Operation[] => {
    const path = pointer('webhooks', index, 'clientConfig', 'caBundle');
    return merged === undefined ? [] : [{ op: 'add', path, value: encodeBundle(merged) }];
  });
  if (bundles.length === 0) {
    return undefined;
  }
  const published = newRecord(
    record,
    wish,
    entries.flatMap(({ trusts: all }) => all),
  );
  return {
    do: 'patch',
    resource: target.resource,
    name: target.name,
    operations: [unchanged(configuration), ...bundles, ...recordOperations(configuration, owner, published)],
    why: 'trust the authorities of the certificates that the webhook uses',
  };
}

/** The annotation that records what the function has published. */
export function annotationOf({ name }: Pick<Owner, 'name'>): string {
  return `${name}.kube-reflex.dev/published-cas`;
}

/** The fingerprint of an authority that an operator wants removed at once, for example after its key leaked. */
export function retireNow({ metadata }: Configuration, { name }: Pick<Owner, 'name'>): string | undefined {
  return metadata?.annotations?.[`${name}.kube-reflex.dev/retire-now`]?.replaceAll(':', '').toLowerCase();
}

/** The authorities that the function published here, and when. Without a record nothing is retired early. */
export function recordOf({ metadata }: Configuration, owner: Pick<Owner, 'name'>): Record {
  const entries = (metadata?.annotations?.[annotationOf(owner)] ?? '').split(',').flatMap((part) => {
    const [print = '', time = ''] = part.split('=');
    const date = new Date(time);
    return /^[0-9a-f]{32}$/.test(print) && !Number.isNaN(date.getTime()) ? [[print, date] as const] : [];
  });
  return new Map(entries);
}

function newRecord(
  record: Record,
  { wanted, now }: Omit<BundleWish, 'record'>,
  trusted: readonly X509Certificate[],
): Record {
  const present = new Set(trusted.map(fingerprint));
  const fresh = wanted.map(fingerprint).map((print) => [print, record.get(print) ?? now] as const);
  return new Map([...record, ...fresh].filter(([print]) => present.has(print)));
}

function recordOperations({ metadata }: Configuration, owner: Owner, record: Record): Operation[] {
  const value = [...record].map(([print, time]) => `${print}=${time.toISOString()}`).join(',');
  const name = annotationOf(owner);
  return metadata?.annotations === undefined
    ? [{ op: 'add', path: pointer('metadata', 'annotations'), value: { [name]: value } }]
    : [{ op: 'add', path: pointer('metadata', 'annotations', name), value }];
}
