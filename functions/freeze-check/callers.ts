import type { Namespace } from '../../lib/kube/model/resource.ts';
import type { UserInfo } from '../../lib/kube/model/review.ts';
import type { Config } from './config.ts';

/** Who scales on its own: the accounts of the HorizontalPodAutoscaler, Knative's autoscaler and KEDA. */
const autoscalers: readonly string[] = [
  'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
  'system:serviceaccount:knative-serving:controller',
  'system:serviceaccount:keda:keda-operator',
];

export type Exemption = 'self' | 'exempt-user' | 'exempt-group' | 'autoscaler';

/** Why a caller is never refused, if so. Autoscalers are exempt only from what they are for. */
export function exemptionOf(
  { username = '', groups = [] }: UserInfo,
  isScale: boolean,
  { config, namespace }: { readonly config: Config; readonly namespace: string },
): Exemption | undefined {
  const { EXEMPT_USERS, EXEMPT_GROUPS, EXEMPT_AUTOSCALERS } = config;
  if (username === ownUser(config, namespace)) {
    return 'self';
  }
  if (EXEMPT_USERS.includes(username)) {
    return 'exempt-user';
  }
  if (groups.some((group) => EXEMPT_GROUPS.includes(group))) {
    return 'exempt-group';
  }
  return EXEMPT_AUTOSCALERS && isScale && autoscalers.includes(username) ? 'autoscaler' : undefined;
}

/** Whom the API server takes us for when we suspend and restore. Other accounts of the namespace are of other functions. */
export function ownUser({ SELF_USERNAME }: Config, namespace: string): string {
  return SELF_USERNAME ?? `system:serviceaccount:${namespace}:freeze-check`;
}

export type PlaceExemption = 'terminating-namespace' | 'excluded-namespace';

/** Why nothing is refused in a namespace, if so. */
export function placeExemption(
  { metadata = {} }: Namespace,
  { config, namespace }: { readonly config: Config; readonly namespace: string },
): PlaceExemption | undefined {
  if (metadata.deletionTimestamp !== undefined) {
    return 'terminating-namespace';
  }
  return excludedNamespaces(config, namespace).includes(metadata.name ?? '') ? 'excluded-namespace' : undefined;
}

/** Those that the API server does not ask about: our own can always be repaired. */
export function excludedNamespaces({ EXCLUDED_NAMESPACES }: Config, own: string): readonly string[] {
  return [own, ...EXCLUDED_NAMESPACES];
}
