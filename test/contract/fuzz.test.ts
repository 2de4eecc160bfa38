import http from 'node:http';
import https from 'node:https';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Definition } from '../../lib/function/definition.ts';
import { createCertificates } from '../../lib/sandbox/http/certificates.ts';
import { long } from '../support/long.ts';
import { noCluster, send, startApp, type Sent } from '../support/http.ts';
import { admissionsOf, environmentOf, functionsUnderTest } from './functions.ts';

const definitions = await functionsUnderTest();
const requests = long(10_000, 2_000);
const certificates = await createCertificates(new Date());

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s under junk',
  (_name, definition) => {
    it(`answers ${requests.toLocaleString('en')} malformed requests on every endpoint without a crash, a 500 or a trace`, async () => {
      const { certificate: cert, key, ca } = certificates;
      const app = await startApp(definition, {
        access: noCluster,
        tls: { cert, key },
        environment: environmentOf(definition),
      });
      const plain = new http.Agent({ keepAlive: true, maxSockets: 16 });
      const secure = new https.Agent({ keepAlive: true, maxSockets: 16, ca });
      const junk = fc.sample(anyRequest(definition), requests);
      const bad: unknown[] = [];
      async function worker(): Promise<void> {
        for (let request = junk.pop(); request !== undefined; request = junk.pop()) {
          const { tls, ...sent } = request;
          const url = tls && app.tlsUrl !== undefined ? app.tlsUrl : app.url;
          const status = await send(url, { ...sent, agent: url === app.tlsUrl ? secure : plain }).then(
            (answer) => answer.status,
            (error: unknown) => String(error),
          );
          if (!expected.has(status)) {
            bad.push({ status, ...request });
          }
        }
      }

      await Promise.all(Array.from({ length: 16 }, worker));
      const health = await send(app.url, { method: 'GET', path: '/health/liveness' });
      plain.destroy();
      secure.destroy();
      await app.close();

      expect(bad).toEqual([]);
      expect(health.status).toBe(200);
    });
  },
);

const expected = new Set<unknown>([200, 204, 400, 404, 405, 413, 415, 422, 503]);

const junkText = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    '1.0',
    '__proto__',
    'constructor',
    '../..',
    '%',
    '%00',
    'dev.knative.sources.ping',
    'Ingress',
    'v1',
  ),
);
const headerText = junkText.map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?').trim());
const attribute = fc.constantFrom(
  ...[
    'id',
    'source',
    'type',
    'specversion',
    'time',
    'subject',
    'kind',
    'apiversion',
    'name',
    'namespace',
    'emit',
    'validate',
  ],
);
const mediaType = fc.constantFrom(
  ...[
    'application/json',
    'application/cloudevents+json',
    'application/cloudevents-batch+json',
    'TEXT/plain',
    'application/xml',
  ],
  ...['application/cloudevents+avro', 'application/json; charset=utf-16', ';', 'application/merge-patch+json'],
);

/** A proper event or review in which one thing after the other may be missing, doubled or nonsense. */
function anyBody(): fc.Arbitrary<string | Buffer> {
  const value = fc.oneof(junkText, fc.jsonValue());
  const event = fc.dictionary(
    fc.oneof(attribute, fc.constantFrom('data', 'data_base64', 'datacontenttype', '__proto__')),
    value,
  );
  const review = fc.record(
    {
      apiVersion: fc.constantFrom('admission.k8s.io/v1', 'v1'),
      kind: fc.constantFrom('AdmissionReview', 'x'),
      request: fc.dictionary(fc.constantFrom('uid', 'object', 'oldObject', 'operation', 'userInfo', 'kind'), value),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(
    event.map((object) => JSON.stringify(object)),
    review.map((object) => JSON.stringify(object)),
    fc.array(event, { maxLength: 3 }).map((list) => JSON.stringify(list)),
    fc.json(),
    fc.json().map((text) => text.slice(0, text.length / 2)),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
}

function anyRequest(definition: Definition): fc.Arbitrary<Sent & { readonly tls: boolean }> {
  const paths = [
    ...['/', '/', '/', '/health/readiness', '/metrics', '/x', '//', '/%', `/${definition.name}`, '/?a=%'],
    ...(definition.routes ?? []).map(({ path }) => path),
    ...admissionsOf(definition).map(({ path }) => path),
  ];
  return fc.record({
    method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    path: fc.oneof(
      fc.constantFrom(...paths),
      fc.webPath().map((path) => `/${path}`),
    ),
    headers: fc.tuple(fc.dictionary(attribute, headerText), fc.option(mediaType)).map(([attributes, type]) => ({
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
      ...(type === null ? {} : { 'content-type': type }),
    })),
    body: anyBody(),
    tls: fc.boolean(),
  });
}
