import type { KubeObject } from '../../kube/model/wire.ts';
import type { Caller } from '../model/internal.ts';
import type { Access, Authorizer, PolicyRule } from './rbac.ts';
import { ApiError, badRequest, type Cause } from '../model/status.ts';
import type { Tokens } from './tokens.ts';

export interface ReviewContext {
  readonly caller: Caller;
  readonly authorizer: Authorizer;
  readonly tokens: Tokens;
  /** Of the path; only LocalSubjectAccessReviews have one. */
  readonly namespace?: string;
}

interface AccessSpec {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string } | null;
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
}

interface Review extends KubeObject {
  readonly spec?: unknown;
}

/** Questions that are posted and answered at once; nothing is stored. By plural name. */
const answers: Readonly<Record<string, (review: Review, context: ReviewContext) => object>> = {
  selfsubjectaccessreviews: ({ spec }, { caller, authorizer }) => decision(asSpec(spec), caller, authorizer),
  subjectaccessreviews: ({ spec }, { authorizer }) => decision(asSpec(spec), subjectOf(asSpec(spec)), authorizer),
  localsubjectaccessreviews: localDecision,
  selfsubjectrulesreviews: ({ spec }, context) => rules(spec, context),
  selfsubjectreviews: (_review, { caller }) => ({ userInfo: caller }),
  tokenreviews: ({ spec }, { tokens }) => tokenVerdict(spec, tokens),
};

export function isReview(plural: string): boolean {
  return Object.hasOwn(answers, plural);
}

/** The review with its answer as `status`. */
export function answerReview(plural: string, review: KubeObject, context: ReviewContext): KubeObject {
  const status = answers[plural]?.(review, context) ?? {};
  const shown = plural === 'selfsubjectrulesreviews' ? { ...review, spec: {} } : review;
  return { ...shown, metadata: { ...review.metadata }, ...{ status } };
}

function localDecision({ spec }: Review, { authorizer, namespace = '' }: ReviewContext): object {
  const asked = asSpec(spec);
  const { namespace: wanted = '' } = asked.resourceAttributes ?? {};
  if (asked.resourceAttributes && wanted !== namespace) {
    throw invalidReview(
      'spec.resourceAttributes.namespace',
      `Invalid value: "${wanted}": must match metadata.namespace`,
    );
  }
  return decision(asked, subjectOf(asked), authorizer);
}

function decision(spec: AccessSpec, subject: Caller, authorizer: Authorizer): object {
  const { allowed, reason } = authorizer.decide(subject, accessOf(spec));
  return { allowed, ...(reason === undefined ? {} : { reason }) };
}

function accessOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): Access {
  if (resourceAttributes && nonResourceAttributes) {
    const { path = '', verb = '' } = nonResourceAttributes;
    const value = JSON.stringify({ Path: path, Verb: verb });
    throw invalidReview(
      'spec.nonResourceAttributes',
      `Invalid value: ${value}: cannot be specified in combination with resourceAttributes`,
    );
  }
  if (nonResourceAttributes) {
    return { verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' };
  }
  if (resourceAttributes) {
    return { ...resourceAttributes, ...namedPart(resourceAttributes) };
  }
  throw invalidReview(
    'spec.resourceAttributes',
    'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  );
}

function namedPart({ verb = '', group = '', resource = '' }: ResourceAttributes): {
  verb: string;
  group: string;
  resource: string;
} {
  return { verb, group, resource };
}

function subjectOf({ user = '', uid, groups = [], extra }: AccessSpec): Caller {
  if (user === '' && groups.length === 0) {
    throw invalidReview('spec.user', 'Invalid value: "": at least one of user or group must be specified');
  }
  return { username: user, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function rules(spec: unknown, { caller, authorizer }: ReviewContext): object {
  const { namespace = '' } = (spec ?? {}) as { namespace?: string };
  if (namespace === '') {
    throw badRequest('no namespace on request');
  }
  const { rules: granted, errors } = authorizer.rulesFor(caller, namespace);
  return {
    resourceRules: granted.filter(({ resources = [] }) => resources.length > 0).map(resourceRule),
    nonResourceRules: granted
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): object {
  return { verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) };
}

function tokenVerdict(spec: unknown, tokens: Tokens): object {
  const { token = '', audiences } = (spec ?? {}) as { token?: string; audiences?: readonly string[] };
  if (token === '') {
    throw badRequest('token is required for TokenReview in authentication');
  }
  const verdict = tokens.verify(token, audiences);
  return verdict.caller === undefined
    ? { user: {}, error: verdict.error }
    : { authenticated: true, user: verdict.caller, audiences: verdict.audiences };
}

function asSpec(spec: unknown): AccessSpec {
  return typeof spec === 'object' && spec !== null ? spec : {};
}

/** The API server leaves the kind of the review out of these refusals. */
function invalidReview(field: string, message: string): ApiError {
  const causes: Cause[] = [{ reason: 'FieldValueInvalid', message, field }];
  return new ApiError(422, {
    reason: 'Invalid',
    message: `.authorization.k8s.io "" is invalid: ${field}: ${message}`,
    details: { group: 'authorization.k8s.io', causes },
  });
}
