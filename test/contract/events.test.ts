import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send, startApp, structuredEvent, type Sent } from '../support/http.ts';
import { environmentOf, functionsUnderTest, watchesOf } from './functions.ts';
import { batch, changeEvent, cloudEventsJson, json, structured, tick, without, withoutData } from './sent.ts';

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
      ['data beside data_base64', json({ ...structuredEvent(tick), data_base64: 'e30=' }), 'excludes data'],
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

async function countOf({ metrics }: Running, name: string): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}
