import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { WebhookClient } from '../../webhook-client/call.ts';
import { WebhookFailure } from '../../webhook-client/call-failure.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  type GroupVersionKind,
  reviewOf,
} from '../../kube/model/review.ts';
import { CallFailure, Denial, internalError, responseOf, soundWarnings } from './admission-answer.ts';
import { matchedKind, namespaceSelected, objectSelected, type Webhook } from './admission-match.ts';
import type { Attributes } from '../model/attributes.ts';
import type { InternalApi, KindRef } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import type { Reviewed } from '../cel/match-condition.ts';
import { present } from '../model/present.ts';
import { badRequest, forbidden } from '../model/status.ts';
import { missingService, type ServiceAddress, webhookTarget } from './webhook-target.ts';

/** Evaluates a CEL expression to true or false; throws what went wrong. */
export type Evaluate = (expression: string, reviewed: Reviewed) => boolean;

export interface AdmissionOptions {
  readonly api: Pick<InternalApi, 'get' | 'list'>;
  readonly client: WebhookClient;
  /** Defaults and pruning after each webhook, as the API server decodes what a webhook made. */
  readonly complete: (kind: Kind, object: KubeObject) => KubeObject;
  readonly evaluate: Evaluate;
  /** Other served versions of the same kind that differ in `apiVersion` alone. */
  readonly equivalents: (kind: Kind) => readonly Kind[];
  readonly serviceAddress?: ServiceAddress;
}

/** A webhook that wants to be asked, in the version that it wants. */
export interface Question {
  readonly webhook: Webhook;
  readonly attributes: Attributes;
  readonly kind: Kind;
  readonly mutates: boolean;
}

const namespaces: KindRef = { group: '', plural: 'namespaces' };
const defaultTimeoutSeconds = 10;

/** The question for a webhook, or nothing when it does not want to be asked. */
export function questionFor(
  webhook: Webhook,
  attributes: Attributes,
  mutates: boolean,
  options: AdmissionOptions,
): Question | undefined {
  const others = options.equivalents(attributes.kind).filter(({ isCustom }) => isCustom);
  const kind = matchedKind(webhook, attributes, others);
  if (kind === undefined || !objectSelected(webhook, attributes)) {
    return undefined;
  }
  const namespace = attributes.namespace === '' ? undefined : options.api.get(namespaces, attributes.namespace);
  if (!namespaceSelected(webhook, attributes, namespace)) {
    return undefined;
  }
  const question = { webhook, attributes, kind, mutates };
  return conditionsHold(question, options.evaluate) ? question : undefined;
}

/** Asks. `undefined` when the webhook failed and may be ignored; throws its denial and failures that count. */
export async function ask(question: Question, options: AdmissionOptions): Promise<AdmissionResponse | undefined> {
  const { webhook, attributes } = question;
  if (attributes.dryRun && !['None', 'NoneOnDryRun'].includes(webhook.sideEffects)) {
    throw badRequest(`admission webhook "${webhook.name}" does not support dry run`);
  }
  try {
    const response = await call(question, options);
    for (const warning of soundWarnings(response.warnings)) {
      attributes.warn(warning);
    }
    if (!response.allowed) {
      throw new Denial(webhook.name, response.status ?? {});
    }
    return response;
  } catch (error) {
    throwUnlessIgnored(webhook, error);
    return undefined;
  }
}

/** What a webhook did wrong is the request's failure, unless its policy says otherwise. */
export function throwUnlessIgnored({ failurePolicy }: Webhook, error: unknown): void {
  if (!(error instanceof CallFailure)) {
    throw error;
  }
  if (failurePolicy !== 'Ignore') {
    throw internalError(error.message);
  }
}

async function call(question: Question, options: AdmissionOptions): Promise<AdmissionResponse> {
  const { webhook, mutates } = question;
  const { clientConfig, timeoutSeconds = defaultTimeoutSeconds } = webhook;
  const request = requestOf(question);
  const target = webhookTarget(clientConfig, options.api, options.serviceAddress);
  const missing = missingService(clientConfig, options.api, options.serviceAddress);
  if (missing !== undefined) {
    throw unreachable(webhook, `Post "${target.url}?timeout=${timeoutSeconds}s": ${missing}`);
  }
  try {
    const review = await options.client.call(target, reviewOf(request), { timeoutMs: timeoutSeconds * 1000 });
    return responseOf(review, { webhook: webhook.name, uid: request.uid, mutates });
  } catch (error) {
    throw error instanceof WebhookFailure ? unreachable(webhook, error.message, error) : error;
  }
}

function unreachable({ name }: Webhook, why: string, cause?: Error): CallFailure {
  return new CallFailure(name, `failed to call webhook: ${why}`, { cause });
}

function requestOf({ attributes, kind }: Question): AdmissionRequest {
  const { kind: sent, subresource, name, namespace, caller } = attributes;
  return {
    uid: randomUUID(),
    kind: bodyKind(attributes, kind),
    resource: { group: kind.group, version: kind.version, resource: kind.plural },
    ...present({ subResource: subresource }),
    requestKind: bodyKind(attributes, sent),
    requestResource: { group: sent.group, version: sent.version, resource: sent.plural },
    ...present({ requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: attributes.operation,
    userInfo: caller,
    object: inVersion(attributes.object, kind),
    oldObject: inVersion(attributes.old, kind),
    dryRun: attributes.dryRun,
    options: attributes.options,
  };
}

/** Some subresources take a kind of their own: a Scale, an Eviction. */
function bodyKind({ subresource }: Attributes, kind: Kind): GroupVersionKind {
  const { group, version } = kind;
  const own = kind.subresources.find(({ name }) => name === subresource);
  return own === undefined
    ? { group, version, kind: kind.kind }
    : { group: own.group, version: own.version, kind: own.kind };
}

/** Custom kinds differ between versions in their `apiVersion` alone. */
function inVersion(object: KubeObject | undefined, { group, version, isCustom }: Kind): KubeObject | null {
  if (object === undefined) {
    return null;
  }
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return !isCustom || object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** One condition that is false settles it; after that, one that cannot be evaluated counts by the failure policy. */
function conditionsHold(question: Question, evaluate: Evaluate): boolean {
  const { webhook, attributes } = question;
  const { matchConditions = [] } = webhook;
  if (matchConditions.length === 0) {
    return true;
  }
  const request = requestOf(question);
  const { object, oldObject } = request;
  const problems: string[] = [];
  for (const { expression } of matchConditions) {
    try {
      if (!evaluate(expression, { object, oldObject, request })) {
        return false;
      }
    } catch (error) {
      problems.push(`expression '${expression}' resulted in error: ${messageOf(error)}`);
    }
  }
  if (problems.length > 0 && webhook.failurePolicy !== 'Ignore') {
    const { group, plural } = attributes.kind;
    throw forbidden({ group, plural, name: attributes.name }, problems.join(', '));
  }
  return problems.length === 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
