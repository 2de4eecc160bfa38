import type { Operation } from 'fast-json-patch';
import type { AdmissionRequest } from '../kube/model/review.ts';
import type { LabelSelector } from '../kube/model/selector.ts';
import type { Context } from './definition.ts';

/**
 * A path that answers AdmissionReviews, and the webhooks that make the API server call it.
 *
 * ```ts
 * const validate: Admission<Config> = {
 *   path: '/validate',
 *   type: 'validating',
 *   onError: 'allow',
 *   timeoutSeconds: 5,
 *   webhooks: [{ name: 'validate.my-function.kube-reflex.dev', failurePolicy: 'Ignore', rules: [onConfigMaps] }],
 *   decide: ({ object }) => (isFine(object) ? { allow: true } : { allow: false, message: 'a key is missing' }),
 * };
 * ```
 */
export interface Admission<C = unknown> {
  readonly path: `/${string}`;
  /** Further paths with the same answers, for example those of a system that the function replaces. */
  readonly aliases?: readonly `/${string}`[];
  readonly type: 'mutating' | 'validating';
  /** The verdict if the handler fails or takes too long. */
  readonly onError: 'allow' | 'deny';
  readonly timeoutSeconds: number;
  readonly webhooks: readonly Webhook[];
  readonly decide: (request: AdmissionRequest, context: Context<C>) => Verdict | Promise<Verdict>;
}

/** One entry of a webhook configuration: when the API server calls. */
export interface Webhook {
  /** Fully qualified: at least three labels, `validate.<function>.kube-reflex.dev`. */
  readonly name: string;
  /** The configuration object that holds the entry. Default: the one named after the function. */
  readonly configuration?: string;
  readonly rules: readonly AdmissionRule[];
  readonly failurePolicy: 'Ignore' | 'Fail';
  /** Default: all namespaces except those that the function itself needs to start. */
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
  /** Default `Equivalent`. */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** Mutating webhooks only. Default `IfNeeded`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** A CEL expression; the API server calls the webhook only if it is true. */
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
  /** The HTTP status for the client of the API server. Default 403. */
  readonly code?: number;
  readonly reason?: string;
  /** The invalid fields, for clients that show them one by one. */
  readonly causes?: readonly Cause[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

export interface Cause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}
