import type { Plan } from './model/plan.ts';
import { monotonicMs } from '../base/monotonic.ts';
import { pause } from '../base/pause.ts';
import { pathOf } from './path.ts';
import { isMissingObject, missingRightIn, parseAnswer, Refusal, refusalOf, type MissingRight } from './refusal.ts';
import { apiVersion, type Resource } from './model/resource.ts';
import { createServerClock, type ServerClock } from './server-clock.ts';
import type { Fields } from './skim.ts';
import { runSteps, type Outcome, type Writer } from './run.ts';
import type { Answer, Request, Transport } from './transport.ts';
import type { KubeObject, Metadata } from './model/wire.ts';

/**
 * A function's client of the Kubernetes API. Objects are plain JSON in both directions, so unknown fields survive.
 *
 * ```ts
 * const ingress = await kube.get(ingresses, { namespace: 'shop', name: 'web' }); // or undefined
 * const { items } = await kube.list(pods, { namespace: 'shop', labelSelector: 'app=web' });
 * await kube.run({ steps: [{ do: 'delete', resource: pods, namespace: 'shop', name: 'web-1', uid, why }] });
 * ```
 */
export interface Kube {
  /** Returns `undefined` if there is no such object. */
  readonly get: <T extends KubeObject>(resource: Resource<T>, place: Named) => Promise<T | undefined>;
  /** Like `get`, but throws if the server does not (or not yet) serve the kind, instead of returning `undefined`. */
  readonly getServed: <T extends KubeObject>(resource: Resource<T>, place: Named) => Promise<T | undefined>;
  /** The whole collection at one resourceVersion, read page by page. */
  readonly list: <T extends KubeObject>(resource: Resource<T>, options?: ListOptions) => Promise<Collection<T>>;
  /** Like `list`, but keeps only what `pick` returns of each object, to save memory with large collections. */
  readonly pick: <T extends KubeObject, U>(
    resource: Resource<T>,
    options: ListOptions,
    pick: (object: T) => U | undefined,
  ) => Promise<Collection<U>>;
  /** Like `list`, but only the metadata of each object: a fraction of the bytes. */
  readonly listMetadata: (resource: Resource, options?: ListOptions) => Promise<Collection<MetadataOnly>>;
  /** Whether there is at least one such object. Reads the metadata of one object only. */
  readonly exists: (resource: Resource, options?: ListOptions) => Promise<boolean>;
  /** Runs the steps in order and stops at the first that fails. A dry run only logs them. */
  readonly run: (plan: Plan) => Promise<readonly Outcome[]>;
  /** Returns what a create would store after defaulting and admission. Nothing is stored. */
  readonly rehearse: <T extends KubeObject>(resource: Resource<T>, object: T) => Promise<T>;
  /** Sends a review that is answered but never stored, such as a SubjectAccessReview, and returns the answer. */
  readonly ask: <T extends KubeObject>(resource: Resource<T>, question: T) => Promise<T>;
  /**
   * The API server's clock at its last answer, in whole seconds. All instances share this clock. Undefined before the
   * first answer.
   */
  readonly serverTime: () => Date | undefined;
  /**
   * The estimated milliseconds by which the API server's clock is ahead of this machine's; 0 before the first answer.
   * Machine time plus skew is a server time that also advances between answers.
   */
  readonly skewMs: () => number;
}

export interface Named {
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly pageSize?: number;
  /** Parse only these fields of each object, which saves time and memory with large lists. */
  readonly fields?: Fields;
}

export interface Collection<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

interface Page<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** Some servers send null for an empty list. */
  readonly items: readonly T[] | null;
}

export interface MetadataOnly extends KubeObject {
  readonly metadata: Metadata;
}

/** The cost of one call. */
export interface Call {
  readonly verb: string;
  readonly resource: string;
  /** Of the request, without its query. */
  readonly path: string;
  /** HTTP status; 0 if there was no answer. */
  readonly code: number;
  /** The right that it was refused for, if so. */
  readonly missingRight: MissingRight | undefined;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly seconds: number;
}

export interface KubeOptions extends Writer {
  readonly transport: Transport;
  readonly signal?: AbortSignal;
  readonly observe?: (call: Call) => void;
  /** The clock of this machine, to compare the API server's with. Default: `now`. */
  readonly machineNow?: () => Date;
  /** The skew as learned by earlier clients of the same API server; this client adds its own observations. */
  readonly skew?: Pick<ServerClock, 'saw' | 'skewMs'>;
}

const asMetadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Creates a client with the connections of `transport`; see `Kube` for its use. */
export function createKube(options: KubeOptions): Kube {
  const clock = createServerClock();
  const { skew = clock } = options;
  const writer: Writer = options.transport.readOnly === true ? { ...options, dryRun: 'plan' } : options;
  const call = caller(options, (date, moments) => {
    clock.saw(date, moments);
    options.skew?.saw(date, moments);
  });

  async function read<T extends KubeObject>(
    resource: Resource<T>,
    { name, namespace }: Named,
    isMissing: (answer: Answer) => boolean,
  ): Promise<T | undefined> {
    const answer = await call('get', resource, { method: 'GET', path: pathOf(resource, { name, namespace }) });
    return isMissing(answer) ? undefined : (parse(`get ${resource.plural} ${name}`, answer) as T);
  }

  async function pick<T extends KubeObject, U>(
    resource: Resource<T>,
    list: ListOptions & { readonly accept?: string },
    choose: (object: T) => U | undefined,
  ): Promise<Collection<U>> {
    for (let restarts = 0; ; restarts += 1) {
      try {
        return await readPages(resource, list, choose);
      } catch (error) {
        // A continue token expires after minutes; a new list is consistent again.
        if (!(error instanceof Refusal && error.code === 410 && restarts < 3)) {
          throw error;
        }
      }
    }
  }

  async function readPages<T extends KubeObject, U>(
    resource: Resource<T>,
    {
      namespace,
      labelSelector,
      fieldSelector,
      pageSize = 500,
      fields,
      accept,
    }: ListOptions & { readonly accept?: string },
    choose: (object: T) => U | undefined,
  ): Promise<Collection<U>> {
    const items: U[] = [];
    let from: string | undefined;
    for (;;) {
      const path = pathOf(
        resource,
        { namespace },
        { labelSelector, fieldSelector, limit: String(pageSize), continue: from },
      );
      const answer = await call('list', resource, { method: 'GET', path, ...(accept === undefined ? {} : { accept }) });
      const page = parse(`list ${resource.plural}`, answer, fieldsOfPage(fields)) as Page<T>;
      for (const item of page.items ?? []) {
        const chosen = choose(item);
        if (chosen !== undefined) {
          items.push(chosen);
        }
      }
      from = page.metadata.continue;
      if (from === undefined || from === '') {
        return { items, resourceVersion: page.metadata.resourceVersion };
      }
    }
  }

  async function exists(resource: Resource, { namespace, labelSelector, fieldSelector }: ListOptions = {}) {
    const path = pathOf(resource, { namespace }, { labelSelector, fieldSelector, limit: '1' });
    const answer = await call('list', resource, { method: 'GET', path, accept: asMetadataList });
    const { items } = parse(`list ${resource.plural}`, answer) as Page<MetadataOnly>;
    return (items ?? []).length > 0;
  }

  async function post<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    query: { readonly dryRun?: string },
  ): Promise<T> {
    const path = pathOf(resource, { namespace: object.metadata?.namespace }, query);
    const body = JSON.stringify({ apiVersion: apiVersion(resource), kind: resource.kind, ...object });
    return parse(`create ${resource.plural}`, await call('create', resource, { method: 'POST', path, body })) as T;
  }

  return {
    get: (resource, place) => read(resource, place, ({ status }) => status === 404),
    getServed: (resource, place) => read(resource, place, isMissingObject),
    pick,
    exists,
    list: (resource, list = {}) => pick(resource, list, (object) => object),
    listMetadata: (resource, list = {}) =>
      pick(resource as Resource<MetadataOnly>, { ...list, accept: asMetadataList }, (object) => object),
    run: (plan) => runSteps(plan, writer, call),
    rehearse: (resource, object) => post(resource, object, { dryRun: 'All' }),
    ask: (resource, question) => post(resource, question, {}),
    serverTime: clock.time,
    skewMs: skew.skewMs,
  };
}

function fieldsOfPage(fields: Fields = true): Fields {
  return fields === true ? true : { metadata: true, items: fields };
}

/** Sends one request and reports its cost to `observe`, also if it fails. */
export type Caller = (verb: string, resource: Resource, request: Request) => Promise<Answer>;

/** Wait no longer than this for the API server; the sender of the event retries anyway. */
const longestPauseSeconds = 1;

function caller({ transport, signal, observe, now, machineNow = now }: KubeOptions, saw: ServerClock['saw']): Caller {
  async function once(verb: string, resource: Resource, request: Request): Promise<Answer> {
    const started = monotonicMs();
    const sentAt = machineNow();
    let answer: Answer | undefined;
    try {
      answer = await transport.send(signal === undefined ? request : { ...request, signal });
      saw(answer.headers.date, { sentAt, receivedAt: machineNow() });
      return answer;
    } finally {
      const path = request.path.split('?', 1)[0] ?? '';
      const seconds = (monotonicMs() - started) / 1000;
      observe?.({ verb, resource: nameOf(resource), path, ...costOf(answer), seconds });
    }
  }

  return async function call(verb, resource, request) {
    for (let tries = 1; ; tries += 1) {
      const answer = await once(verb, resource, request);
      const waitSeconds = answer.status === 429 ? Number(answer.headers['retry-after'] ?? Number.NaN) : Number.NaN;
      if (!(waitSeconds <= longestPauseSeconds) || tries > 2) {
        return answer;
      }
      await pause(waitSeconds * 1000, signal);
    }
  };
}

function nameOf({ group, plural }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function costOf(answer: Answer | undefined): Pick<Call, 'code' | 'missingRight' | 'sentBytes' | 'receivedBytes'> {
  return answer === undefined
    ? { code: 0, missingRight: undefined, sentBytes: 0, receivedBytes: 0 }
    : {
        code: answer.status,
        missingRight: missingRightIn(answer),
        sentBytes: answer.sentBytes,
        receivedBytes: answer.receivedBytes,
      };
}

function parse(what: string, answer: Answer, fields: Fields = true): unknown {
  if (answer.status < 200 || answer.status > 299) {
    throw refusalOf(what, answer);
  }
  return parseAnswer(what, answer, fields);
}
