import type { MutatingWebhookConfiguration } from '../../../lib/kube/model/resource.ts';
import type { LabelSelector } from '../../../lib/kube/model/selector.ts';
import { digestOf } from '../../../lib/base/digest.ts';
import { lastModified } from './last-modified.ts';

/** A MutatingWebhookConfiguration that injects proxies. */
export interface WebhookSet {
  readonly uid: string;
  /** Absent where its label is missing. */
  readonly revision?: string;
  readonly tag?: string;
  /** Of the webhooks without `caBundle`, which istiod rewrites without changing anything. */
  readonly hash: string;
  readonly changedAt: number;
  readonly injectors: readonly Injector[];
}

/** One webhook that injects proxies into the pods it selects. */
export interface Injector {
  /** The configuration it is part of, and its place there: the order in which the API server calls. */
  readonly configuration: string;
  readonly position: number;
  readonly revision?: string;
  readonly tag?: string;
  readonly clientConfig: Webhook['clientConfig'];
  readonly timeoutSeconds: number;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  /** Its conditions are CEL, which only the API server can evaluate. */
  readonly isConditional: boolean;
}

type Webhook = NonNullable<MutatingWebhookConfiguration['webhooks']>[number];

const webhookSuffix = 'sidecar-injector.istio.io';

/** Undefined for a configuration of somebody else. */
export function webhookSetOf(configuration: MutatingWebhookConfiguration): WebhookSet | undefined {
  const { metadata = {}, webhooks = [] } = configuration;
  const { name = '', uid = '', labels = {} } = metadata;
  const isIstios = /^istio-(revision-tag-|sidecar-injector)/.test(name);
  if (!isIstios && !webhooks.some((webhook) => webhook.name.endsWith(webhookSuffix))) {
    return undefined;
  }
  const identity = { ...labelled('revision', labels['istio.io/rev']), ...labelled('tag', labels['istio.io/tag']) };
  return {
    uid,
    ...identity,
    hash: digestOf([identity, webhooks.map(withoutBundle)]),
    changedAt: lastModified(configuration),
    injectors: webhooks.flatMap((webhook, position) =>
      injects(webhook) ? [{ configuration: name, position, ...identity, ...injectorOf(webhook) }] : [],
    ),
  };
}

function labelled(field: 'revision' | 'tag', value: string | undefined): Partial<Record<'revision' | 'tag', string>> {
  return value === undefined || value === '' ? {} : { [field]: value };
}

function withoutBundle({ clientConfig: { caBundle: _ignored, ...clientConfig }, ...webhook }: Webhook): object {
  return { ...webhook, clientConfig };
}

function injects({ name, rules = [] }: Webhook): boolean {
  return (
    name.endsWith(webhookSuffix) &&
    rules.some(
      ({ operations, apiGroups, apiVersions, resources }) =>
        covers(operations, 'CREATE') &&
        covers(apiGroups, '') &&
        covers(apiVersions, 'v1') &&
        covers(resources?.map(withoutSubresources), 'pods'),
    )
  );
}

function covers(given: readonly string[] | undefined, wanted: string): boolean {
  return given?.some((each) => each === '*' || each === wanted) ?? false;
}

// All subresources of pods (`pods/*`) include the pods themselves.
function withoutSubresources(resource: string): string {
  return resource.replace(/\/\*$/, '');
}

type Described = Omit<Injector, 'configuration' | 'position' | 'revision' | 'tag'>;

function injectorOf({
  clientConfig,
  timeoutSeconds = 10,
  namespaceSelector,
  objectSelector,
  matchConditions,
}: Webhook): Described {
  return {
    clientConfig,
    timeoutSeconds,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    isConditional: (matchConditions ?? []).length > 0,
  };
}
