import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Definition, Handler, Watch } from '../../lib/function/define.ts';
import { Failure, handling, type FailureKind } from '../../lib/function/failure.ts';
import { apiVersion } from '../../lib/kube/resource.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Running } from '../../lib/main.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import {
  binaryEvent,
  noCluster,
  send,
  startApp,
  structuredEvent,
  type Event,
  type Received,
  type Sent,
} from '../http.ts';
import { environmentOf, functionsUnderTest, watchesOf } from './functions.ts';

const tick: Event = { type: 'dev.knative.sources.ping', data: {} };
const cloudEventsJson = { 'content-type': 'application/cloudevents+json' };

const definitions = await functionsUnderTest();

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s on the event path',
  (_name, definition) => {
    let sandbox: Sandbox;
    let app: Running;

    beforeAll(async () => {
      sandbox = await startSandbox();
      app = await startApp(definition, {
        access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
        environment: { ...environmentOf(definition), ROLE: 'events' },
      });
    });

    afterAll(async () => {
      await app.close();
      await sandbox.close();
    });

    const watches = watchesOf(definition);
    const changes = watches.flatMap((watch) =>
      (['ref', 'resource'] as const).flatMap((mode) =>
        (['add', 'update', 'delete'] as const).map((change) => ({ watch, mode, change })),
      ),
    );

    it.each(changes)('answers 204 to $mode $change of $watch.resource.kind', async ({ watch, mode, change }) => {
      const answer = await send(app.url, binaryEvent(changeEvent(watch, mode, change)));

      expect(answer).toMatchObject({ status: 204, body: '' });
    });

    it.each([
      ['a tick', binaryEvent({ type: 'dev.knative.sources.ping', data: {} })],
      [
        'a tick of the OpenFaaS cron connector',
        { headers: { 'x-connector': 'cron-connector', 'x-topic': 'cron-function' } },
      ],
      ['a type of somebody else', binaryEvent({ type: 'com.example.unknown' })],
      [
        'a kind that it does not watch',
        binaryEvent({
          type: 'dev.knative.apiserver.ref.add',
          kind: 'Lease',
          apiVersion: 'coordination.k8s.io/v1',
          namespace: 'default',
          name: 'x',
        }),
      ],
      ['a structured event', structured(tick)],
      [
        'a structured event with an upper-case media type',
        structured(tick, 'APPLICATION/CLOUDEVENTS+JSON; charset=UTF-8'),
      ],
      ['a batch', batch([tick, { type: 'com.example.unknown' }])],
      ['an empty batch', batch([])],
      [
        'data_base64',
        json({ ...withoutData(structuredEvent(tick)), data_base64: Buffer.from('{}').toString('base64') }),
      ],
      ['an event without data', json(withoutData(structuredEvent(tick)))],
      [
        'an upper-case JSON media type',
        { ...binaryEvent(tick), headers: { ...binaryEvent(tick).headers, 'content-type': 'Application/JSON' } },
      ],
    ] satisfies [string, Sent][])('answers 204 without a body to %s', async (_what, sent) => {
      const answer = await send(app.url, sent);

      expect(answer).toMatchObject({ status: 204, body: '' });
    });

    it('takes an empty namespace as cluster-scoped', async () => {
      const event = {
        type: 'dev.knative.apiserver.ref.add',
        kind: 'Namespace',
        apiVersion: 'v1',
        namespace: '',
        name: 'team-a',
      };

      expect((await send(app.url, binaryEvent(event))).status).toBe(204);
    });

    it.each([
      ['no CloudEvent at all', { body: '{}' }, 'not a CloudEvent'],
      ['JSON that ends early', { ...binaryEvent(tick), body: '{"a":' }, 'body is not JSON'],
      ['bytes that are not UTF-8', { ...binaryEvent(tick), body: Buffer.from([0x22, 0xff, 0x22]) }, 'body is not JSON'],
      ['a missing id', without('ce-id'), 'id is missing'],
      [
        'an empty type',
        { ...binaryEvent(tick), headers: { ...binaryEvent(tick).headers, 'ce-type': '' } },
        'type is missing',
      ],
      [
        'another specversion',
        { ...binaryEvent(tick), headers: { ...binaryEvent(tick).headers, 'ce-specversion': '0.3' } },
        'send 1.0',
      ],
      [
        'a broken percent-encoding',
        { ...binaryEvent(tick), headers: { ...binaryEvent(tick).headers, 'ce-subject': '%E0%A4%A' } },
        'ce-subject',
      ],
      ['a structured event that is a list', { headers: cloudEventsJson, body: '[]' }, 'must be a JSON object'],
      [
        'a batch that is an object',
        { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: '{}' },
        'JSON array',
      ],
      [
        'an unknown event format',
        { headers: { 'content-type': 'application/cloudevents+avro' }, body: 'x' },
        'not supported',
      ],
      ['data beside data_base64', json({ ...structuredEvent(tick), data_base64: 'e30=' }), 'in place of data'],
      [
        'an API server event without a kind',
        binaryEvent({ type: 'dev.knative.apiserver.ref.add', name: 'x' }),
        'kind, apiversion and name',
      ],
      [
        'a name with a slash',
        binaryEvent({ type: 'dev.knative.apiserver.ref.add', kind: 'Pod', apiVersion: 'v1', name: '../x' }),
        'extension name',
      ],
      [
        'a namespace in capitals',
        binaryEvent({
          type: 'dev.knative.apiserver.ref.add',
          kind: 'Pod',
          apiVersion: 'v1',
          name: 'x',
          namespace: 'X',
        }),
        'extension namespace',
      ],
      ['a body over 3 MiB', { ...binaryEvent(tick), body: JSON.stringify('x'.repeat(3 * 1024 * 1024)) }, 'larger than'],
    ] satisfies [string, Sent, string][])('answers 400 to %s and says what is wrong', async (_what, sent, expected) => {
      const answer = await send(app.url, sent);

      expect(answer.status).toBe(400);
      expect(answer.body).toContain(expected);
    });

    it('survives a request that is cut off', async () => {
      const request = http.request(app.url, {
        method: 'POST',
        headers: { ...binaryEvent(tick).headers, 'content-length': '1000' },
      });
      const cut = new Promise((resolve) => request.once('error', resolve));
      request.write('{"a":');
      request.destroy(new Error('cut'));
      await cut;

      expect((await send(app.url, binaryEvent(tick))).status).toBe(204);
    });

    it('does the same for a hundred duplicates at once as for one event', async () => {
      const [watch] = watches;
      const sent = binaryEvent(watch === undefined ? tick : changeEvent(watch, 'ref', 'update'));
      await send(app.url, sent);
      const writes = await countOf(app, 'kube_reflex_steps_total');
      const runs = await countOf(app, 'kube_reflex_runs_total');

      const answers = await Promise.all(Array.from({ length: 100 }, () => send(app.url, sent)));

      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 204));
      expect(await countOf(app, 'kube_reflex_steps_total')).toBe(writes);
      expect((await countOf(app, 'kube_reflex_runs_total')) - runs).toBeLessThan(100);
    });

    it('names itself, greets webhook senders, and refuses other methods', async () => {
      const named = await send(app.url, { method: 'GET' });
      const greeted = await send(app.url, { method: 'OPTIONS', headers: { 'webhook-request-origin': 'example.com' } });
      const refused = await send(app.url, { method: 'PUT', body: '{}' });

      expect(named).toMatchObject({ status: 200 });
      expect(named.body).toContain(definition.name);
      expect(greeted).toMatchObject({ status: 200, headers: { 'webhook-allowed-origin': 'example.com' } });
      expect(refused).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS, POST' } });
    });

    it.each([
      '/health/liveness',
      '/health/readiness',
      '/healthz',
      '/livez',
      '/readyz',
      '/_/health',
      '/_/ready',
      '/metrics',
    ])('answers 200 at %s', async (path) => {
      expect((await send(app.url, { method: 'GET', path })).status).toBe(200);
    });
  },
);

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s when its handler fails',
  (_name, definition) => {
    it.each(Object.keys(handling) as FailureKind[])('answers a failure of kind %s by the table', async (kind) => {
      let tries = 0;
      const app = await failing(definition, () => {
        tries += 1;
        return Promise.reject(new Failure(kind, 'on purpose', { retryAfter: 7 }));
      });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      const { status, retry } = handling[kind];
      expect(answer.status).toBe(status);
      expect(answer.headers['retry-after']).toBe(retry ? '7' : undefined);
      expect(answer.body).toBe(`${kind}: on purpose\n`);
      expect(tries).toBe(kind === 'conflict' ? 3 : 1);
    });

    it('calls what nobody foresaw a bug, tells nothing of it, and goes on as ready as before', async () => {
      const app = await failing(definition, () => Promise.reject(new TypeError('secret detail')));
      const readiness = { method: 'GET', path: '/health/readiness' };

      const before = await send(app.url, readiness);
      const answer = await send(app.url, binaryEvent(tick));
      const { status, body } = await send(app.url, readiness);
      await app.close();

      expect(answer).toMatchObject({ status: 500, body: 'bug: unexpected error\n' });
      expect({ status, body }).toEqual({ status: before.status, body: before.body });
    });

    it('starts over from its reads when it lost an optimistic lock', async () => {
      let tries = 0;
      const app = await failing(definition, () => {
        tries += 1;
        return tries < 3 ? Promise.reject(new Failure('conflict', 'lost')) : Promise.resolve();
      });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      expect(answer.status).toBe(204);
    });

    it('turns away what it can neither run nor queue, with 503 and Retry-After', async () => {
      const gate = Promise.withResolvers<void>();
      const app = await failing(definition, () => gate.promise, { MAX_RUNNING: '1', MAX_WAITING: '5' });

      const all = Promise.withResolvers<void>();
      const refused: Received[] = [];
      const pending = Array.from({ length: 50 }, async () => {
        const answer = await send(app.url, binaryEvent(tick));
        if (answer.status === 503 && refused.push(answer) === 44) {
          all.resolve();
        }
        return answer;
      });
      await all.promise;
      gate.resolve();
      const answers = await Promise.all(pending);
      await app.close();

      expect(refused[0]).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(6);
      expect(answers.filter(({ status }) => status === 503)).toHaveLength(44);
    });

    it('answers 503 when a run takes too long, and stays at one run at a time', async () => {
      const gate = Promise.withResolvers<void>();
      let running = 0;
      let most = 0;
      const app = await failing(
        definition,
        async () => {
          running += 1;
          most = Math.max(most, running);
          await gate.promise;
          running -= 1;
        },
        { TIMEOUT_SECONDS: '1' },
      );

      const answers = await Promise.all([send(app.url, binaryEvent(tick)), send(app.url, binaryEvent(tick))]);
      gate.resolve();
      await app.close();

      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      expect(most).toBe(1);
    });

    it('gives work for later a context of its own, which outlives the run that asked for it', async () => {
      const aborted = Promise.withResolvers<boolean>();
      const app = await failing(
        definition,
        ({ later, now, signal }) => {
          later('flush', new Date(now().getTime() + 1_500), (context) => {
            aborted.resolve(context.signal.aborted || !signal.aborted);
            return Promise.resolve();
          });
          return Promise.resolve();
        },
        { TIMEOUT_SECONDS: '1' },
      );

      const answer = await send(app.url, binaryEvent(tick));
      const isAborted = await aborted.promise;
      await app.close();

      expect(answer.status).toBe(204);
      expect(isAborted).toBe(false);
    });

    it('handles what is well formed in a batch, and answers 400 for the rest', async () => {
      let runs = 0;
      const app = await failing(definition, () => {
        runs += 1;
        return Promise.resolve();
      });
      const events = [structuredEvent(tick), { specversion: '1.0' }];

      const answer = await send(app.url, { ...batch([]), body: JSON.stringify(events) });
      const crowd = await send(app.url, {
        ...batch([]),
        body: JSON.stringify(Array.from({ length: 501 }, () => events[0])),
      });
      await app.close();

      expect(answer).toMatchObject({ status: 400, body: 'malformed: event attribute id is missing\n' });
      expect(crowd).toMatchObject({ status: 400, body: 'malformed: a batch may hold at most 500 events\n' });
      expect(runs).toBe(1);
    });

    it('frees its lane from a handler that never ends', async () => {
      let runs = 0;
      const app = await failing(
        definition,
        () => {
          runs += 1;
          return runs === 1 ? new Promise(() => undefined) : Promise.resolve();
        },
        { TIMEOUT_SECONDS: '1' },
      );

      const statuses: number[] = [];
      while (statuses.at(-1) !== 204) {
        statuses.push((await send(app.url, binaryEvent(tick))).status);
      }
      await app.close();

      expect(statuses[0]).toBe(503);
      expect(runs).toBe(2);
    });

    it('does not wait for connections that never say anything when it ends', async () => {
      const app = await failing(definition, () => Promise.resolve());
      const silent = connect(Number(app.url.port), '127.0.0.1');
      await once(silent, 'connect');
      await send(app.url, binaryEvent(tick));

      await app.close();

      expect(silent.destroyed || (await once(silent, 'close')).length > 0).toBe(true);
    });

    it('answers 422 to events in the admission role', async () => {
      const app = await failing(definition, () => Promise.resolve(), { ROLE: 'admission' });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      expect(answer.status).toBe(422);
      expect(answer.body).toContain('admission only');
    });

    it('fails a batch as a whole when one of its events must be sent again', async () => {
      const app = await failing(definition, () => Promise.reject(new Failure('unavailable', 'later')));

      const answer = await send(app.url, batch([{ type: 'com.example.unknown' }, tick]));
      await app.close();

      expect(answer.status).toBe(503);
    });
  },
);

function json(event: unknown): Sent {
  return { headers: cloudEventsJson, body: JSON.stringify(event) };
}

function structured(event: Event, contentType = 'application/cloudevents+json'): Sent {
  return { headers: { 'content-type': contentType }, body: JSON.stringify(structuredEvent(event)) };
}

function batch(events: readonly Event[]): Sent {
  return {
    headers: { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' },
    body: JSON.stringify(events.map(structuredEvent)),
  };
}

function without(header: string): Sent {
  const { headers = {}, body } = binaryEvent(tick);
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== header));
  return { headers: kept, ...(body === undefined ? {} : { body }) };
}

function withoutData({ data: _data, ...event }: Record<string, unknown>): Record<string, unknown> {
  return event;
}

function changeEvent({ resource }: Watch, mode: 'ref' | 'resource', change: string): Event {
  const reference = {
    apiVersion: apiVersion(resource),
    kind: resource.kind,
    name: 'contract-object',
    namespace: resource.namespaced ? 'default' : '',
  };
  const whole = {
    apiVersion: reference.apiVersion,
    kind: reference.kind,
    metadata: { name: reference.name, namespace: reference.namespace },
  };
  return { type: `dev.knative.apiserver.${mode}.${change}`, ...reference, data: mode === 'ref' ? reference : whole };
}

/** The app of the function with its tick handled by `handle`: the surface is the function's, the failure ours. */
function failing(
  definition: Definition,
  handle: Handler<unknown>,
  environment: Record<string, string> = {},
): Promise<Running> {
  const changed = { ...definition, tick: { schedule: '* * * * *', handle }, loops: [] };
  return startApp(changed, {
    access: noCluster,
    environment: { ...environmentOf(definition), ROLE: 'events', ...environment },
  });
}

async function countOf({ metrics }: Running, name: string): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}
