import https from 'node:https';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Admission, Verdict } from '../../lib/function/admission.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { createCertificates, type Certificates } from '../../lib/sandbox/http/certificates.ts';
import hostCensus from '../functions/host-census/index.ts';
import { noCluster, startApp } from '../support/http.ts';

const json = { 'content-type': 'application/json' };
let certificates: Certificates;
let app: Running | undefined;

beforeAll(async () => {
  certificates = await createCertificates(new Date());
});

afterEach(async () => {
  await app?.close();
  app = undefined;
});

describe('admission', () => {
  it('answers a review with its uid, the patch as base64, warnings and audit annotations', async () => {
    await admitting(() => ({
      allow: true,
      patch: [{ op: 'add', path: '/metadata/labels/a~1b', value: 'c' }],
      warnings: ['careful'],
      auditAnnotations: { rule: 'one' },
    }));

    const { status, body } = await post('/admit', review());

    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: {
        uid: 'u-1',
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from('[{"op":"add","path":"/metadata/labels/a~1b","value":"c"}]').toString('base64'),
        warnings: ['careful'],
        auditAnnotations: { rule: 'one' },
      },
    });
  });

  it('sends no patch where there is nothing to change', async () => {
    await admitting(() => ({ allow: true, patch: [] }));

    expect(JSON.parse((await post('/admit', review())).body)).toMatchObject({
      response: { uid: 'u-1', allowed: true },
    });
  });

  it('denies with HTTP 200 and the code that the user gets to see', async () => {
    const causes = [{ reason: 'FieldValueForbidden', field: 'spec.replicas', message: 'frozen' }];
    await admitting(() => ({ allow: false, message: 'frozen until Monday', code: 423, reason: 'Locked', causes }));

    const { status, body } = await post('/admit', review());

    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      response: {
        uid: 'u-1',
        allowed: false,
        status: { code: 423, reason: 'Locked', message: 'frozen until Monday', details: { causes } },
      },
    });
  });

  it.each([
    ['allow', { allowed: true }],
    ['deny', { allowed: false, status: { code: 503 } }],
  ] as const)('a handler that throws, rejects or hangs makes it %s', async (onError, expected) => {
    const ways: Admission['decide'][] = [
      () => {
        throw new Error('thrown');
      },
      () => Promise.reject(new Error('rejected')),
      () => new Promise<Verdict>(() => undefined),
    ];
    for (const decide of ways) {
      await admitting(decide, { onError, timeoutSeconds: 1 });
      const { status, body } = await post('/admit?timeout=1s', review());
      await app?.close();

      expect(status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ response: { uid: 'u-1', ...expected } });
    }
  });

  it.each([
    ['another media type', { 'content-type': 'text/plain' }, JSON.stringify(review()), 415],
    ['no JSON', json, 'x', 400],
    ['no review', json, '{}', 400],
    [
      'a review of a version that nobody speaks any more',
      json,
      JSON.stringify({ ...review(), apiVersion: 'admission.k8s.io/v1alpha1' }),
      400,
    ],
    ['a review without a uid', json, JSON.stringify({ ...review(), request: {} }), 400],
    ['a body over 7 MiB', json, JSON.stringify('x'.repeat(7 * 1024 * 1024)), 413],
  ])('answers %s before a uid is known by its status', async (_what, headers, body, expected) => {
    await admitting(() => ({ allow: true }));

    expect((await post('/admit', body, headers)).status).toBe(expected);
  });

  it('knows its paths and methods', async () => {
    await admitting(() => ({ allow: true }));

    expect((await post('/other', review())).status).toBe(404);
    expect((await post('/admit', '', {}, 'GET')).status).toBe(405);
    expect((await post('/host-census/admit', review())).status).toBe(200);
  });

  it('answers at its aliases too', async () => {
    await admitting(() => ({ allow: true }), { aliases: ['/known-from-elsewhere'] });

    expect((await post('/known-from-elsewhere?timeout=3s', review())).status).toBe(200);
  });

  it('opens no TLS listener in the events role', async () => {
    await admitting(() => ({ allow: true }), {}, { ROLE: 'events' });

    expect(app?.tlsUrl).toBeUndefined();
  });
});

function review(): object {
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: { uid: 'u-1', operation: 'CREATE', object: { kind: 'Pod' }, oldObject: null },
  };
}

async function admitting(
  decide: Admission['decide'],
  changes: Partial<Admission> = {},
  environment = {},
): Promise<void> {
  const admission: Admission = {
    path: '/admit',
    type: 'mutating',
    onError: 'allow',
    timeoutSeconds: 3,
    webhooks: [],
    decide,
    ...changes,
  };
  const { certificate: cert, key } = certificates;
  app = await startApp(
    { ...hostCensus, admit: () => [admission] },
    { access: noCluster, tls: { cert, key }, environment },
  );
}

function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = json,
  method = 'POST',
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, app?.tlsUrl);
    const request = https.request(url, { method, headers, ca: certificates.ca }, (response) => {
      response.toArray().then((chunks) => {
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks as Buffer[]).toString() });
      }, reject);
    });
    request.once('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}
