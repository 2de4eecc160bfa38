import { describe, expect, it } from '@jest/globals';
import { configMaps, selfSubjectAccessReviews } from '../../lib/kube/model/resource.ts';
import { readOnly } from '../../lib/kube/read-only.ts';
import { cluster, json } from '../../lib/kube/testing/scripted.ts';
import type { Answer, Request, Transport } from '../../lib/kube/transport.ts';

const configMap = '/api/v1/namespaces/default/configmaps/a';
const reviews = '/apis/authorization.k8s.io/v1';

describe('a read-only transport', () => {
  it.each<[Request['method'], string]>([
    ['GET', configMap],
    ['POST', `${reviews}/selfsubjectaccessreviews`],
    ['POST', `${reviews}/namespaces/shop/localsubjectaccessreviews`],
    ['POST', '/apis/authentication.k8s.io/v1/tokenreviews'],
    ['POST', '/api/v1/namespaces/default/pods?dryRun=All'],
    ['PATCH', `${configMap}?fieldManager=a&dryRun=All`],
    ['DELETE', `${configMap}?dryRun=All`],
  ])('sends %s %s', async (method, path) => {
    const { transport, sent } = recording();

    await readOnly(transport).send({ method, path });

    expect(sent).toEqual([`${method} ${path}`]);
  });

  it.each<[Request['method'], string]>([
    ['POST', '/api/v1/namespaces/default/configmaps'],
    ['PATCH', configMap],
    ['PUT', configMap],
    ['DELETE', configMap],
    ['DELETE', '/api/v1/namespaces/default/configmaps'],
    ['POST', '/api/v1/namespaces/default/pods/a/eviction'],
    ['POST', '/api/v1/namespaces/default/serviceaccounts/a/token'],
    ['PATCH', `${configMap}?dryRun=`],
    ['PATCH', `${configMap}?dryRun=All&dryRun=None`],
    ['PATCH', `${configMap}?fieldManager=dryRun%3DAll`],
    ['PATCH', `${reviews}/selfsubjectaccessreviews`],
    ['POST', '/apis/example.com/v1/reviews'],
    ['POST', '/apis/example.com/v1/namespaces/a/reviews/../authorization.k8s.io/v1/subjectaccessreviews'],
  ])('refuses %s %s before it is sent', async (method, path) => {
    const { transport, sent } = recording();

    await expect(readOnly(transport).send({ method, path })).rejects.toThrow(`could not ${method} /ap`);
    await expect(readOnly(transport).stream({ method, path })).rejects.toThrow('a dry run writes nothing');
    expect(sent).toEqual([]);
  });

  it('makes a client log its steps in place of doing them', async () => {
    const requests: string[] = [];
    const { kube, calls } = await cluster(
      ({ method = '', url = '' }, response) => {
        requests.push(`${method} ${url}`);
        return json(response, 200, {});
      },
      { around: readOnly },
    );
    const place = { namespace: 'default', name: 'a' };

    const outcomes = await kube.run({
      steps: [
        { do: 'create', resource: configMaps, object: { metadata: place }, why: 'one' },
        { do: 'delete', resource: configMaps, ...place, uid: 'u', why: 'two' },
      ],
    });
    await kube.get(configMaps, place);
    await kube.ask(selfSubjectAccessReviews, { metadata: {}, spec: {} });

    expect(outcomes.map(({ object }) => object)).toEqual([undefined, undefined]);
    expect(requests).toEqual([`GET ${configMap}`, `POST ${reviews}/selfsubjectaccessreviews`]);
    expect(calls).toHaveLength(2);
  });
});

function recording(): { readonly transport: Transport; readonly sent: readonly string[] } {
  const sent: string[] = [];
  const transport: Transport = {
    send: ({ method, path }) => {
      sent.push(`${method} ${path}`);
      return Promise.resolve({ status: 200 } as Answer);
    },
    stream: ({ method, path }) => {
      sent.push(`${method} ${path}`);
      return Promise.reject(new Error('not here'));
    },
    server: () => Promise.resolve(new URL('https://cluster')),
    close: () => undefined,
  };
  return { transport, sent };
}
