import { matchesLabelSelector, type LabelSelector } from '../../../lib/kube/model/selector.ts';
import type { Injector, WebhookSet } from './webhooks.ts';

export type Labels = Readonly<Record<string, string>>;

/** The webhooks that the API server would call for a pod, in its order: by name of the configuration, then by place. */
export function injectorsFor(
  injectors: readonly Injector[],
  namespaceLabels: Labels,
  podLabels: Labels,
): readonly Injector[] {
  return injectors
    .filter(
      ({ namespaceSelector, objectSelector }) =>
        selects(namespaceSelector, namespaceLabels) && selects(objectSelector, podLabels),
    )
    .sort(byOrderOfCall);
}

/** An absent selector is an empty one here, unlike in a Service or a policy. */
function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  return selector === undefined || matchesLabelSelector(selector, labels);
}

function byOrderOfCall(a: Injector, b: Injector): number {
  if (a.configuration === b.configuration) {
    return a.position - b.position;
  }
  return a.configuration < b.configuration ? -1 : 1;
}

/** The revision or tag that labels ask for although nothing here serves it. */
export function unknownRevision(
  webhooks: Iterable<WebhookSet>,
  namespaceLabels: Labels,
  podLabels: Labels,
): string | undefined {
  const wanted =
    namespaceLabels['istio-injection'] === undefined
      ? (namespaceLabels['istio.io/rev'] ?? podLabels['istio.io/rev'])
      : undefined;
  const served = [...webhooks].flatMap(({ revision, tag }) => [tag ?? revision]);
  return wanted === undefined || served.includes(wanted) ? undefined : wanted;
}
