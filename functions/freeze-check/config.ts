import * as z from 'zod/mini';
import { dnsLabel, duration, flag, integer, list, oneOf, text, withDefault } from '../../lib/function/config.ts';

const hourMs = 3_600_000;
const name = { test: /^\S+$/, says: 'must be names without spaces' };

/** What admission and the query API may be told. */
const deciding = {
  POLICY_MAX_AGE: withDefault(
    duration({
      about: 'how old the policies may be that admission decides by; 0 reads them anew each time',
      example: '1s',
    }),
    1000,
  ),
  NOOP_UPDATES: withDefault(
    oneOf(['rollout', 'allow'], { about: 'what an update that changes nothing of note counts as' }),
    'rollout',
  ),
  SELF_USERNAME: z.optional(
    text({
      about: 'the one user that is never refused; absent: the service account of the events role',
      example: 'system:serviceaccount:kube-reflex:freeze-check',
      pattern: name,
    }),
  ),
  EXEMPT_USERS: withDefault(list({ about: 'users that are never refused', example: 'break-glass', item: name }), []),
  EXEMPT_GROUPS: withDefault(
    list({ about: 'groups that are never refused', example: 'system:masters', item: name }),
    [],
  ),
  EXEMPT_AUTOSCALERS: withDefault(
    flag({ about: 'let the HorizontalPodAutoscaler, Knative and KEDA scale during freezes' }),
    false,
  ),
  GITOPS_GROUPS: withDefault(
    list({
      about: 'groups of GitOps tools: they get the short message that these show, and never pass by giving a reason',
      example: 'system:serviceaccounts:argocd',
      item: name,
    }),
    ['system:serviceaccounts:argocd', 'system:serviceaccounts:flux-system'],
  ),
  BREAK_GLASS: withDefault(
    oneOf(['rbac', 'annotation', 'off'], {
      about: 'who may pass a freeze by giving a reason: who may `bypass` the policy, everybody, nobody',
    }),
    'rbac',
  ),
  ROLLBACK_LANE: withDefault(
    flag({ about: 'let rollouts pass that go back to an earlier revision, where a policy has `allowRollback`' }),
    true,
  ),
  WARN_AHEAD: withDefault(
    duration({ about: 'how long before a freeze changes get a warning; 0 gives none', example: '24h' }),
    24 * hourMs,
  ),
  MAX_EXCEPTION_DURATION: withDefault(
    duration({ about: 'exceptions longer than this get a warning; 0 gives none', example: '168h' }),
    168 * hourMs,
  ),
  API_AUTH_MODE: withDefault(
    oneOf(['none', 'token', 'rbac'], {
      about: 'who may ask /v1/evaluate: everybody, who has a valid token, whose token may also `get` that path',
    }),
    'none',
  ),
} as const;

/** What the manifests of the webhook follow. */
const registration = {
  FAILURE_POLICY: withDefault(
    oneOf(['Fail', 'Ignore'], { about: 'what becomes of a change while no replica answers' }),
    'Fail',
  ),
  WEBHOOK_TIMEOUT_SECONDS: withDefault(
    integer({ about: 'how long the API server waits for an answer', example: '5', min: 1, max: 30 }),
    5,
  ),
  EXCLUDED_NAMESPACES: withDefault(
    list({ about: 'namespaces that are never asked about, the own one aside', example: 'kube-system', item: dnsLabel }),
    [],
  ),
} as const;

const providerItem = { test: /^(argocd|flux|none)$/, says: 'must be argocd, flux or none' };

/** What the acting half may be told. */
const acting = {
  GITOPS_PROVIDERS: withDefault(
    list({ about: 'whose objects policies may pause', example: 'argocd,flux', item: providerItem }),
    ['argocd', 'flux'],
  ),
  GITOPS_EVENTS: withDefault(
    list({
      about: 'whose objects are watched too, so that new ones are paused at once; their kinds must be installed',
      example: 'argocd',
      item: providerItem,
    }),
    [],
  ),
} as const;

export const Config = z.object({ ...deciding, ...registration, ...acting });
export type Config = z.output<typeof Config>;
