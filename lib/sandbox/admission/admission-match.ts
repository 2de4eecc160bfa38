import type { V1MutatingWebhook, V1RuleWithOperations, V1ValidatingWebhook } from '@kubernetes/client-node';
import { matchesLabelSelector } from '../../kube/model/selector.ts';
import type { KubeObject, Wire } from '../../kube/model/wire.ts';
import type { Attributes } from '../model/attributes.ts';
import type { Kind } from '../model/kinds.ts';

/** A webhook of either configuration. */
export type Webhook = Wire<V1ValidatingWebhook> & Pick<Wire<V1MutatingWebhook>, 'reinvocationPolicy'>;
type Rule = Wire<V1RuleWithOperations>;

const admissionConfiguration = 'admissionregistration.k8s.io';

/** Webhooks are never asked about what configures admission: nobody could repair a broken one otherwise. */
export function isExempt({ kind }: Attributes): boolean {
  return kind.group === admissionConfiguration;
}

/**
 * The kind in the version that the webhook wants to see it in, or nothing when its rules do not fit.
 * `others` are further versions of the same kind: only `Equivalent` webhooks care.
 */
export function matchedKind(webhook: Webhook, attributes: Attributes, others: readonly Kind[]): Kind | undefined {
  const candidates = webhook.matchPolicy === 'Exact' ? [attributes.kind] : [attributes.kind, ...others];
  return candidates.find((kind) => (webhook.rules ?? []).some((rule) => ruleMatches(rule, attributes, kind)));
}

function ruleMatches(rule: Rule, attributes: Attributes, kind: Kind): boolean {
  return (
    holds(rule.operations, attributes.operation) &&
    holds(rule.apiGroups, kind.group) &&
    holds(rule.apiVersions, kind.version) &&
    scopeMatches(rule.scope, attributes) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, kind.plural, attributes.subresource ?? ''))
  );
}

function holds(wanted: readonly string[] | undefined, value: string): boolean {
  return wanted !== undefined && (wanted.includes('*') || wanted.includes(value));
}

/** A Namespace counts as cluster-wide although it is inside of itself. */
function scopeMatches(scope = '*', { kind }: Attributes): boolean {
  return scope === '*' || scope === (kind.namespaced ? 'Namespaced' : 'Cluster');
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with a subresource, and `*` with all of them. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const [wantedResource = '', wantedSubresource = ''] = pattern.split('/', 2);
  return (
    (wantedResource === '*' || wantedResource === resource) &&
    (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}

/** An object that carries the labels, before or after the change, is enough. */
export function objectSelected({ objectSelector }: Webhook, { object, old }: Attributes): boolean {
  if (objectSelector === undefined) {
    return true;
  }
  return [object, old].some(
    (each) => each !== undefined && matchesLabelSelector(objectSelector, each.metadata?.labels ?? {}),
  );
}

/** `namespace` is the object that the request's namespace names, if it is stored. */
export function namespaceSelected(
  { namespaceSelector }: Webhook,
  attributes: Attributes,
  namespace: KubeObject | undefined,
): boolean {
  if (namespaceSelector === undefined) {
    return true;
  }
  const subject = isNamespace(attributes) ? (attributes.object ?? namespace) : namespace;
  if (!attributes.kind.namespaced && !isNamespace(attributes)) {
    return true;
  }
  return matchesLabelSelector(namespaceSelector, subject?.metadata?.labels ?? {});
}

function isNamespace({ kind, subresource = '' }: Attributes): boolean {
  return kind.group === '' && kind.plural === 'namespaces' && subresource === '';
}
