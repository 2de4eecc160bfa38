import type { Logger } from 'pino';
import { Failure } from '../base/failure.ts';
import { eventName, eventOf } from './model/event.ts';
import type { Plan, Step } from './model/plan.ts';
import type { Caller } from './client.ts';
import { pathOf } from './path.ts';
import { parseAnswer, Refusal, refusalOf } from './refusal.ts';
import { apiVersion, events, pods, type Resource } from './model/resource.ts';
import type { Answer, Request } from './transport.ts';
import type { KubeObject } from './model/wire.ts';

/** The identity and the mode of a writer. */
export interface Writer {
  /** Names the function in managedFields and Events: `kube-reflex.dev/<function>`. */
  readonly fieldManager: string;
  readonly log: Logger;
  readonly now: () => Date;
  /** `plan`: log the steps, send nothing. `server`: send them for checking only; the API server stores nothing. */
  readonly dryRun?: 'plan' | 'server' | undefined;
  readonly onStep?: (step: Step, result: string) => void;
  readonly onSkipped?: (reason: string) => void;
}

/** The result of a step, with the object as the server returned it, if it did. */
export interface Outcome {
  readonly step: Step;
  readonly object?: KubeObject;
}

/**
 * Runs the steps of a plan in order and stops at the first that fails.
 *
 * | answer                         | outcome                             |
 * | ------------------------------ | ----------------------------------- |
 * | 2xx                            | done                                |
 * | 404 to a delete or an eviction | done already                        |
 * | 409 to an Event                | done already: the same Event exists |
 * | 404 to a patch or an apply     | throws `conflict`: read again       |
 * | any other                      | throws a `Refusal`, see `refusalOf` |
 */
export async function runSteps(
  { steps, skipped = [] }: Plan,
  writer: Writer,
  call: Caller,
): Promise<readonly Outcome[]> {
  for (const reason of skipped) {
    writer.log.info({ skipped: reason }, 'skipped');
    writer.onSkipped?.(reason);
  }
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    outcomes.push(await runStep(step, writer, call));
  }
  return outcomes;
}

async function runStep(step: Step, writer: Writer, call: Caller): Promise<Outcome> {
  const described = describe(step);
  if (writer.dryRun === 'plan') {
    writer.log.info(described, 'would do');
    writer.onStep?.(step, 'dry-run');
    return { step };
  }
  try {
    const { verb, resource, request } = requestOf(step, writer);
    const answer = await call(verb, resource, request);
    const outcome = outcomeOf(step, answer);
    writer.log.info(described, 'step');
    writer.onStep?.(step, 'ok');
    return outcome;
  } catch (error) {
    writer.onStep?.(step, error instanceof Failure ? error.kind : 'bug');
    throw error;
  }
}

function outcomeOf(step: Step, answer: Answer): Outcome {
  if (answer.status >= 200 && answer.status <= 299) {
    return { step, object: parseAnswer(`${step.do} ${resourceOf(step).plural}`, answer) as KubeObject };
  }
  if (isDoneAlready(step, answer.status)) {
    return { step };
  }
  const { name, namespace } = targetOf(step);
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  const refusal = refusalOf(`${step.do} ${resourceOf(step).plural} ${place}`, answer);
  // The object vanished between read and write: start over from the reads.
  const vanished = refusal.code === 404 && (step.do === 'patch' || step.do === 'apply');
  throw vanished ? new Refusal('conflict', refusal.message, { code: 404, reason: refusal.reason }) : refusal;
}

function isDoneAlready(step: Step, status: number): boolean {
  if (status === 404) {
    return step.do === 'delete' || step.do === 'evict';
  }
  return status === 409 && step.do === 'event';
}

interface Prepared {
  readonly verb: string;
  readonly resource: Resource;
  readonly request: Request;
}

function requestOf(step: Step, { fieldManager, dryRun, now }: Writer): Prepared {
  const query = { fieldManager, dryRun: dryRun === 'server' ? 'All' : undefined };
  const resource = resourceOf(step);
  const { name, namespace } = targetOf(step);
  const place = { name, namespace };
  switch (step.do) {
    case 'apply': {
      const path = pathOf(
        resource,
        { ...place, subresource: step.subresource },
        { ...query, force: String(step.force ?? false) },
      );
      const body = JSON.stringify({ ...step.object, apiVersion: apiVersion(resource), kind: resource.kind });
      return {
        verb: 'patch',
        resource,
        request: { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' },
      };
    }
    case 'patch': {
      const owner = { fieldManager: step.fieldManager ?? fieldManager };
      const path = pathOf(resource, { ...place, subresource: step.subresource }, { ...query, ...owner });
      const body = JSON.stringify(step.operations);
      return {
        verb: 'patch',
        resource,
        request: { method: 'PATCH', path, body, contentType: 'application/json-patch+json', ...acceptOf(step) },
      };
    }
    case 'create':
      return post(resource, { path: pathOf(resource, { namespace }, query), object: step.object, ...acceptOf(step) });
    case 'event':
      return post(resource, {
        path: pathOf(resource, { namespace }, query),
        object: eventOf(step, fieldManager, now()),
      });
    case 'delete': {
      const preconditions = {
        uid: step.uid,
        ...(step.resourceVersion === undefined ? {} : { resourceVersion: step.resourceVersion }),
      };
      const body = JSON.stringify({ preconditions, propagationPolicy: step.propagation ?? 'Background' });
      const path = pathOf(resource, place, { dryRun: query.dryRun });
      return { verb: 'delete', resource, request: { method: 'DELETE', path, body } };
    }
    case 'evict': {
      const object = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: step.namespace },
        deleteOptions: { preconditions: { uid: step.uid } },
      };
      return post(resource, {
        path: pathOf(resource, { ...place, subresource: 'eviction' }, { dryRun: query.dryRun }),
        object,
      });
    }
  }
}

interface Posted {
  readonly path: string;
  readonly object: KubeObject;
  readonly accept?: string;
}

function post(resource: Resource, { object, ...request }: Posted): Prepared {
  const body = JSON.stringify({ apiVersion: apiVersion(resource), kind: resource.kind, ...object });
  return { verb: 'create', resource, request: { method: 'POST', body, ...request } };
}

const asMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

function acceptOf({ brief = false }: { readonly brief?: boolean }): { readonly accept?: string } {
  return brief ? { accept: asMetadata } : {};
}

function resourceOf(step: Step): Resource {
  switch (step.do) {
    case 'event':
      return events;
    case 'evict':
      return pods;
    case 'apply':
    case 'patch':
    case 'create':
    case 'delete':
      return step.resource;
  }
}

/** The object that a step writes; for an Event, the Event itself. */
function targetOf(step: Step): { readonly name: string; readonly namespace?: string } {
  switch (step.do) {
    case 'apply':
    case 'create':
      return { name: step.object.metadata?.name ?? '', ...namespaceOf(step.object) };
    case 'event':
      return { name: eventName(step), namespace: step.about.metadata?.namespace ?? 'default' };
    case 'patch':
    case 'delete':
    case 'evict':
      return step;
  }
}

function namespaceOf({ metadata }: KubeObject): { readonly namespace?: string } {
  return metadata?.namespace === undefined ? {} : { namespace: metadata.namespace };
}

function describe(step: Step): Record<string, unknown> {
  const { name, namespace } = step.do === 'event' ? { ...step.about.metadata } : targetOf(step);
  const kind = step.do === 'event' ? step.about.kind : resourceOf(step).kind;
  return { do: step.do, kind, namespace, name, why: step.do === 'event' ? `${step.reason}: ${step.note}` : step.why };
}
