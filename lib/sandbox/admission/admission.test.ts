import { describe, expect, it } from '@jest/globals';
import type { Kind } from '../model/kinds.ts';
import { add, attributes, configMaps, object, rule, setUp, webhook } from '../test/webhooks.ts';

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
