import type { V1MutatingWebhookConfiguration, V1ValidatingWebhookConfiguration } from '@kubernetes/client-node';
import type { KubeObject, Wire } from '../../kube/model/wire.ts';
import { internalError, patchOf } from './admission-answer.ts';
import { type AdmissionOptions, ask, type Question, questionFor, throwUnlessIgnored } from './admission-call.ts';
import { isExempt, type Webhook } from './admission-match.ts';
import type { Admission, Attributes } from '../model/attributes.ts';
import { DecodeError } from '../schema/go-types.ts';
import { inspectBuiltIn } from '../schema/inspect.ts';
import type { KindRef } from '../model/internal.ts';
import { applyJsonPatch, JsonPatchProblem } from '../patch/json-patch.ts';
import type { Kind } from '../model/kinds.ts';
import { isEqual } from '../schema/value.ts';

type Configuration = Wire<V1MutatingWebhookConfiguration> | Wire<V1ValidatingWebhookConfiguration>;

const group = 'admissionregistration.k8s.io';
const mutating: KindRef = { group, plural: 'mutatingwebhookconfigurations' };
const validating: KindRef = { group, plural: 'validatingwebhookconfigurations' };

/** Asks the registered webhooks over HTTPS, like the API server. */
export function createWebhookAdmission(options: AdmissionOptions): Admission {
  return {
    mutate: (attributes) => mutate(attributes, options),
    validate: (attributes) => validate(attributes, options),
  };
}

async function validate(attributes: Attributes, options: AdmissionOptions): Promise<void> {
  if (isExempt(attributes)) {
    return;
  }
  const questions = webhooks(options, validating).flatMap(
    (webhook) => questionFor(webhook, attributes, false, options) ?? [],
  );
  const outcomes = await Promise.allSettled(questions.map((question) => ask(question, options)));
  const refusal = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refusal !== undefined) {
    throw refusal.reason;
  }
}

async function mutate(attributes: Attributes, options: AdmissionOptions): Promise<KubeObject | undefined> {
  if (isExempt(attributes)) {
    return attributes.object;
  }
  const all = webhooks(options, mutating);
  const first = await round(all, attributes, options);
  const again = all.filter((webhook) => first.toReinvoke.has(webhook));
  const second = again.length === 0 ? first : await round(again, withObject(attributes, first.object), options);
  return second.object;
}

interface Round {
  readonly object: KubeObject | undefined;
  /** Webhooks that ask for another look because a later one changed the object. */
  readonly toReinvoke: ReadonlySet<Webhook>;
}

async function round(all: readonly Webhook[], attributes: Attributes, options: AdmissionOptions): Promise<Round> {
  const reinvocable = new Set<Webhook>();
  const toReinvoke = new Set<Webhook>();
  let { object } = attributes;
  for (const webhook of all) {
    const question = questionFor(webhook, withObject(attributes, object), true, options);
    if (question === undefined) {
      continue;
    }
    const next = await mutated(question, object, options);
    if (!isEqual(next, object)) {
      object = next;
      reinvocable.forEach((each) => toReinvoke.add(each));
    }
    if (webhook.reinvocationPolicy === 'IfNeeded') {
      reinvocable.add(webhook);
    }
  }
  return { object, toReinvoke };
}

async function mutated(
  question: Question,
  object: KubeObject | undefined,
  options: AdmissionOptions,
): Promise<KubeObject | undefined> {
  const { webhook } = question;
  const response = await ask(question, options);
  if (response === undefined) {
    return object;
  }
  try {
    const operations = patchOf(response, webhook.name);
    return operations.length === 0 ? object : patched(question, object, operations, options);
  } catch (error) {
    throwUnlessIgnored(webhook, error);
    return object;
  }
}

/** A patch that does not fit fails the request whatever the failure policy: the webhook itself worked. */
function patched(
  { webhook, attributes, kind }: Question,
  object: KubeObject | undefined,
  operations: readonly unknown[],
  { complete }: AdmissionOptions,
): KubeObject {
  if (object === undefined) {
    const what = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook "${webhook.name}" ${what}`);
  }
  const result = patchedObject(inVersionOf(object, kind), operations);
  assertTyped(attributes, result);
  return complete(attributes.kind, inVersionOf(result, attributes.kind));
}

/** What a webhook made must still be an object of its kind. Custom ones are validated later. */
function assertTyped({ kind, subresource }: Attributes, object: KubeObject): void {
  if (kind.isCustom || subresource !== undefined) {
    return;
  }
  try {
    inspectBuiltIn({ ...object }, kind.schema);
  } catch (error) {
    throw error instanceof DecodeError ? internalError(error.message) : error;
  }
}

function patchedObject(object: KubeObject, operations: readonly unknown[]): KubeObject {
  try {
    return applyJsonPatch(object, operations) as KubeObject;
  } catch (error) {
    throw error instanceof JsonPatchProblem ? internalError(error.message) : error;
  }
}

function inVersionOf(object: KubeObject, { group: of, version, isCustom }: Kind): KubeObject {
  return isCustom ? { ...object, apiVersion: `${of}/${version}` } : object;
}

function withObject(attributes: Attributes, object: KubeObject | undefined): Attributes {
  return object === undefined || object === attributes.object ? attributes : { ...attributes, object };
}

/** In the order in which they are called: by name of the configuration, then as listed. */
function webhooks({ api }: AdmissionOptions, kind: KindRef): readonly Webhook[] {
  const configurations = api.list(kind) as readonly Configuration[];
  return configurations
    .toSorted((a, b) => compareNames(a.metadata?.name ?? '', b.metadata?.name ?? ''))
    .flatMap((configuration) => configuration.webhooks ?? []);
}

function compareNames(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
