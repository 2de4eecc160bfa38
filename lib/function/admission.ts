import type { Operation } from 'fast-json-patch';
import type { AdmissionRequest } from '../kube/model/review.ts';
import type { LabelSelector } from '../kube/model/selector.ts';
import type { Context } from './definition.ts';

/** A path that answers AdmissionReviews, and the webhooks by which the API server asks there. */
export interface Admission<C = unknown> {
  readonly path: `/${string}`;
  /** Further paths with the same answers, such as one that people know from elsewhere. */
  readonly aliases?: readonly `/${string}`[];
  readonly type: 'mutating' | 'validating';
  /** What a request gets when the handler fails or runs out of time. */
  readonly onError: 'allow' | 'deny';
  readonly timeoutSeconds: number;
  readonly webhooks: readonly Webhook[];
  readonly decide: (request: AdmissionRequest, context: Context<C>) => Verdict | Promise<Verdict>;
}

/** One entry of a webhook configuration: when the API server asks. */
export interface Webhook {
  /** Fully qualified: at least three labels, `validate.<function>.kube-reflex.dev`. */
  readonly name: string;
  /** The configuration object that holds the entry. Default: the one that is named after the function. */
  readonly configuration?: string;
  readonly rules: readonly AdmissionRule[];
  readonly failurePolicy: 'Ignore' | 'Fail';
  /** Default: all namespaces but those without which no function could start. */
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** Default `Equivalent`. */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** Mutating webhooks only. Default `IfNeeded`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** A CEL expression without which the API server does not ask. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface AdmissionRule {
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: 'Namespaced' | 'Cluster' | '*';
}

export type Verdict = Allowed | Denied;

export interface Allowed {
  readonly allow: true;
  readonly patch?: readonly Operation[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface Denied {
  readonly allow: false;
  readonly message: string;
  /** HTTP status that the caller of the API sees. Default 403. */
  readonly code?: number;
  readonly reason?: string;
  /** The fields that are to blame, for clients that show them one by one. */
  readonly causes?: readonly Cause[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface Cause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}
