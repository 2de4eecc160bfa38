import { describe, expect, it } from '@jest/globals';
import type { KubeObject } from '../../kube/wire.ts';
import { WebhookFailure } from '../../review/call-failure.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../review/review.ts';
import { createWebhookAdmission } from './admission.ts';
import type { Webhook } from './admission-match.ts';
import type { Attributes } from './attributes.ts';
import type { Kind } from '../kinds.ts';
import { anyKind } from '../testing/kind.ts';

type Answer = (request: AdmissionRequest) => Partial<AdmissionResponse>;

const configMaps = anyKind({
  plural: 'configmaps',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  singular: 'configmap',
});

const object: KubeObject = { kind: 'ConfigMap', metadata: { name: 'x', namespace: 'a', labels: { app: 'x' } } };

describe('webhook admission', () => {
  it('asks mutating webhooks in order of their configurations, each on the work of the one before', async () => {
    const { admission, asked } = setUp({
      mutating: { b: [webhook('second')], a: [webhook('first')] },
      answers: { first: add('/metadata/labels/one', '1'), second: add('/metadata/labels/two', '2') },
    });

    const result = await admission.mutate(attributes());

    expect(asked.map(({ url }) => url)).toEqual(['https://first/', 'https://second/']);
    expect(asked[1]?.request.object?.metadata?.labels).toEqual({ app: 'x', one: '1' });
    expect(result?.metadata?.labels).toEqual({ app: 'x', one: '1', two: '2' });
  });

  it('asks again, once, those that want to see what others changed after them', async () => {
    const { admission, asked } = setUp({
      mutating: { a: [{ ...webhook('first'), reinvocationPolicy: 'IfNeeded' }, webhook('second'), webhook('third')] },
      answers: { second: add('/metadata/labels/two', '2'), third: add('/metadata/labels/three', '3') },
    });

    await admission.mutate(attributes());

    expect(asked.map(({ url }) => url)).toEqual([
      'https://first/',
      'https://second/',
      'https://third/',
      'https://first/',
    ]);
  });

  it('does not ask again without a change', async () => {
    const { admission, asked } = setUp({
      mutating: { a: [{ ...webhook('first'), reinvocationPolicy: 'IfNeeded' }, webhook('second')] },
      answers: { second: add('/metadata/labels/app', 'x') },
    });

    await admission.mutate(attributes());

    expect(asked).toHaveLength(2);
  });

  it('describes the request', async () => {
    const { admission, asked } = setUp({ validating: { a: [webhook('only')] } });

    await admission.validate(attributes({ operation: 'UPDATE', old: object, dryRun: true }));

    expect(asked[0]?.request).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      name: 'x',
      namespace: 'a',
      operation: 'UPDATE',
      userInfo: { username: 'bob', groups: ['g'] },
      object,
      oldObject: object,
      dryRun: true,
      options: { kind: 'CreateOptions' },
    });
  });

  it.each<[string, Partial<Webhook>, Partial<Attributes>, boolean]>([
    ['another operation', { rules: [rule({ operations: ['DELETE'] })] }, {}, false],
    ['any operation', { rules: [rule({ operations: ['*'] })] }, {}, true],
    ['another group', { rules: [rule({ apiGroups: ['apps'] })] }, {}, false],
    ['another version', { rules: [rule({ apiVersions: ['v2'] })] }, {}, false],
    ['any resource', { rules: [rule({ resources: ['*'] })] }, {}, true],
    ['any resource, but a subresource came', { rules: [rule({ resources: ['*'] })] }, { subresource: 'status' }, false],
    ['everything', { rules: [rule({ resources: ['*/*'] })] }, { subresource: 'status' }, true],
    ['all subresources', { rules: [rule({ resources: ['configmaps/*'] })] }, { subresource: 'status' }, true],
    ['a subresource', { rules: [rule({ resources: ['configmaps/status'] })] }, {}, false],
    ['cluster-wide objects', { rules: [rule({ scope: 'Cluster' })] }, {}, false],
    ['namespaced objects', { rules: [rule({ scope: 'Namespaced' })] }, {}, true],
    ['labels that it has', { objectSelector: { matchLabels: { app: 'x' } } }, {}, true],
    ['labels that it lacks', { objectSelector: { matchLabels: { app: 'y' } } }, {}, false],
    [
      'labels that it had',
      { objectSelector: { matchLabels: { app: 'y' } } },
      { old: { metadata: { labels: { app: 'y' } } } },
      true,
    ],
    ['labels of its namespace', { namespaceSelector: { matchLabels: { team: 't' } } }, {}, true],
    ['other labels of its namespace', { namespaceSelector: { matchLabels: { team: 'u' } } }, {}, false],
    ['a condition that holds', { matchConditions: [{ name: 'c', expression: 'yes' }] }, {}, true],
    ['a condition that does not', { matchConditions: [{ name: 'c', expression: 'no' }] }, {}, false],
    [
      'a condition that is false beside a broken one',
      { matchConditions: ['broken', 'no'].map((expression) => ({ name: 'c', expression })) },
      {},
      false,
    ],
    [
      'a broken condition that may be ignored',
      { failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: 'broken' }] },
      {},
      false,
    ],
    [
      'the configuration of admission itself',
      { rules: [rule({ apiGroups: ['*'], resources: ['*'] })] },
      { kind: { ...configMaps, group: 'admissionregistration.k8s.io' } },
      false,
    ],
  ])('selects by %s', async (_name, changes, request, expected) => {
    const { admission, asked } = setUp({ validating: { a: [{ ...webhook('only'), ...changes }] } });

    await admission.validate(attributes(request));

    expect(asked.length > 0).toBe(expected);
  });

  it('refuses the request when a condition cannot be evaluated', async () => {
    const broken = { ...webhook('only'), matchConditions: [{ name: 'c', expression: 'broken' }] };
    const { admission } = setUp({ validating: { a: [broken] } });

    await expect(admission.validate(attributes())).rejects.toThrow(
      `configmaps "x" is forbidden: expression 'broken' resulted in error: no such key`,
    );
  });

  it.each<[string, Partial<AdmissionResponse>, object]>([
    [
      'nothing',
      {},
      { code: 400, message: 'admission webhook "only.example.com" denied the request without explanation' },
    ],
    [
      'a message and a code',
      { status: { message: 'no way', code: 418 } },
      { code: 418, message: 'admission webhook "only.example.com" denied the request: no way' },
    ],
    [
      'a reason',
      { status: { reason: 'Because', details: { name: 'n' } } },
      {
        code: 400,
        reason: 'Because',
        details: { name: 'n' },
        message: 'admission webhook "only.example.com" denied the request: Because',
      },
    ],
    ['a code of success', { status: { code: 200 } }, { code: 400 }],
  ])('passes on a denial with %s', async (_name, response, status) => {
    const { admission } = setUp({
      validating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: () => ({ allowed: false, ...response }) },
    });

    const refused = admission.validate(attributes());

    await expect(refused).rejects.toMatchObject({ status });
  });

  it.each<[string, Answer, string]>([
    ['another uid', () => ({ uid: 'z' }), 'received invalid webhook response: expected response.uid='],
    ['a patch without type', () => ({ patch: 'W10=' }), 'webhook returned response.patch but not response.patchType'],
    ['a type without patch', () => ({ patchType: 'JSONPatch' }), 'returned response.patchType but not response.patch'],
    ['another type', () => ({ patchType: 'Merge', patch: encoded([{}]) }), 'unsupported patch type "Merge"'],
    [
      'no JSON',
      () => ({ patchType: 'JSONPatch', patch: 'bm9wZQ==' }),
      'received undecodable patch in webhook response',
    ],
    [
      'no list',
      () => ({ patchType: 'JSONPatch', patch: encoded({}) }),
      'cannot unmarshal object into Go value of type',
    ],
    ['nothing', fail, 'failed to call webhook: Post "https://only/": EOF'],
  ])('fails the request by policy when a webhook answers %s', async (_name, answer, message) => {
    const strict = setUp({ mutating: { a: [webhook('only')] }, answers: { only: answer } });
    const lenient = setUp({
      mutating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: answer },
    });

    const refused = strict.admission.mutate(attributes());

    await expect(refused).rejects.toMatchObject({ code: 500, refusal: { reason: 'InternalError' } });
    await expect(refused).rejects.toThrow(message);
    await expect(lenient.admission.mutate(attributes())).resolves.toEqual(object);
  });

  it('fails the request whatever the policy when a patch does not fit', async () => {
    const { admission } = setUp({
      mutating: { a: [{ ...webhook('only'), failurePolicy: 'Ignore' }] },
      answers: { only: add('/none/x', 1) },
    });

    await expect(admission.mutate(attributes())).rejects.toThrow(
      'Internal error occurred: add operation does not apply',
    );
  });

  it('lets nobody patch what is deleted', async () => {
    const { admission } = setUp({ mutating: { a: [webhook('only')] }, answers: { only: add('/x', 1) } });
    const { object: _none, ...deletion } = attributes({ operation: 'DELETE', old: object });

    await expect(admission.mutate(deletion)).rejects.toThrow(
      'admission webhook "only.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  it('takes no patch from a validating webhook', async () => {
    const { admission } = setUp({ validating: { a: [webhook('only')] }, answers: { only: add('/x', 1) } });

    await expect(admission.validate(attributes())).rejects.toThrow('validating webhook may not return response.patch');
  });

  it('refuses a dry run that a webhook could not bear', async () => {
    const { admission, asked } = setUp({
      validating: { a: [{ ...webhook('only'), sideEffects: 'Unknown', failurePolicy: 'Ignore' }] },
    });

    await expect(admission.validate(attributes({ dryRun: true }))).rejects.toMatchObject({
      code: 400,
      message: 'admission webhook "only.example.com" does not support dry run',
    });
    expect(asked).toEqual([]);
  });

  it('passes warnings on that fit into a header', async () => {
    const { admission, warnings } = setUp({
      validating: { a: [webhook('only')] },
      answers: { only: () => ({ warnings: ['mind "this"', 'line\nbreak', '', 'ünï'] }) },
    });

    await admission.validate(attributes({ warn: (text) => warnings.push(text) }));

    expect(warnings).toEqual(['mind "this"', 'ünï']);
  });

  it('calls a Service by its name at this machine', async () => {
    const service = { namespace: 'a', name: 'hook', path: 'x', port: 9443 };
    const { admission, targets } = setUp({
      validating: { a: [{ ...webhook('only'), clientConfig: { service, caBundle: 'Q0E=' } }] },
    });

    await admission.validate(attributes());

    expect(targets).toEqual([
      {
        url: 'https://hook.a.svc:9443/x',
        serverName: 'hook.a.svc',
        ca: 'CA',
        address: { host: '127.0.0.1', port: 9443 },
      },
    ]);
  });

  it('fails without the Service', async () => {
    const service = { namespace: 'a', name: 'none', port: 443 };
    const { admission } = setUp({ validating: { a: [{ ...webhook('only'), clientConfig: { service } }] } });

    await expect(admission.validate(attributes())).rejects.toThrow(
      'failed to call webhook: Post "https://none.a.svc:443/?timeout=10s": service "none" not found',
    );
  });

  it('shows an equivalent version to a webhook that asks for it', async () => {
    const custom: Kind = { ...configMaps, group: 'example.com', isCustom: true };
    const older = { ...webhook('only'), rules: [rule({ apiGroups: ['example.com'], apiVersions: ['v1beta1'] })] };
    const { admission, asked } = setUp({ mutating: { a: [older] }, answers: { only: add('/spec', 1) } });

    const result = await admission.mutate(
      attributes({ kind: custom, object: { ...object, apiVersion: 'example.com/v1' } }),
    );

    expect(asked[0]?.request).toMatchObject({
      kind: { version: 'v1beta1' },
      requestKind: { version: 'v1' },
      object: { apiVersion: 'example.com/v1beta1' },
    });
    expect(result).toMatchObject({ apiVersion: 'example.com/v1', spec: 1 });
  });
});

function fail(): never {
  throw new WebhookFailure('Post "https://only/": EOF');
}

function rule(changes: object): NonNullable<Webhook['rules']>[number] {
  return {
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    ...changes,
  };
}

function webhook(name: string): Webhook {
  return {
    name: `${name}.example.com`,
    clientConfig: { url: `https://${name}/` },
    rules: [rule({})],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  };
}

function add(path: string, value: unknown): Answer {
  return () => ({ patchType: 'JSONPatch', patch: encoded([{ op: 'add', path, value }]) });
}

function encoded(patch: unknown): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}

function attributes(changes: Partial<Attributes> = {}): Attributes {
  return {
    operation: 'CREATE',
    kind: configMaps,
    name: 'x',
    namespace: 'a',
    object,
    caller: { username: 'bob', groups: ['g'] },
    dryRun: false,
    options: { kind: 'CreateOptions' },
    warn: () => undefined,
    ...changes,
  };
}

interface Setup {
  readonly mutating?: Readonly<Record<string, readonly Webhook[]>>;
  readonly validating?: Readonly<Record<string, readonly Webhook[]>>;
  readonly answers?: Readonly<Record<string, Answer>>;
}

function setUp({ mutating = {}, validating = {}, answers = {} }: Setup) {
  const asked: { url: string; request: AdmissionRequest }[] = [];
  const targets: object[] = [];
  const warnings: string[] = [];
  const admission = createWebhookAdmission({
    api: {
      get: (kind, name) => stored[`${kind.plural}/${name}`],
      list: ({ plural }) =>
        Object.entries(plural.startsWith('mutating') ? mutating : validating).map(([name, webhooks]) => ({
          metadata: { name },
          ...{ webhooks },
        })),
    },
    client: {
      call(target, { request }) {
        targets.push(target);
        if (request === undefined) {
          return Promise.reject(new Error('no request'));
        }
        asked.push({ url: target.url, request });
        const answer = answers[new URL(target.url).hostname] ?? (() => ({}));
        try {
          const response = { uid: request.uid, allowed: true, ...answer(request) };
          return Promise.resolve({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
        } catch (error) {
          return Promise.reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      close: () => undefined,
    },
    complete: (_kind, completed) => completed,
    equivalents: (kind) => (kind.isCustom ? [{ ...kind, version: 'v1beta1' }] : []),
    evaluate(expression) {
      if (expression === 'broken') {
        throw new Error('no such key');
      }
      return expression === 'yes';
    },
  });
  return { admission, asked, targets, warnings };
}

const stored: Readonly<Record<string, KubeObject>> = {
  'namespaces/a': { metadata: { name: 'a', labels: { team: 't' } } },
  'services/hook': { metadata: { name: 'hook' } },
};
