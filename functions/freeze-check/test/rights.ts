import { apiVersion, customResourceDefinitions } from '../../../lib/kube/model/resource.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';
import { until } from '../../../lib/source/testing/until.ts';
import type { Scenario, Stage } from '../../../test/contract/rights/stage.ts';
import { applications } from '../hold/application.ts';
import { helmReleases, kustomizations } from '../hold/flux.ts';
import { exercisePolicies, exerciseWebhook, makeObjects, type Changing } from './real/freeze-rights.ts';
import { freezeNamed, policies } from './real/freeze-site.ts';
import { definitionOf } from './world.ts';

/** What the suite on the real API server does, but for the certificate. */
export const scenario: Scenario = {
  runs: [
    {
      what: 'every feature',
      settings: { API_AUTH_MODE: 'rbac', POLICY_MAX_AGE: '0s' },
      play: everyFeature,
    },
  ],
};

async function everyFeature(stage: Stage): Promise<void> {
  const { client, running } = stage;
  await installKinds(stage);
  await client.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'argocd' } } });
  await makeObjects(stage);
  await exerciseWebhook(changing(stage), running('webhook'));
  await exercisePolicies(changing(stage), running('events'));
}

async function installKinds({ sandbox: { api } }: Stage): Promise<void> {
  for (const kind of [applications, kustomizations, helmReleases]) {
    await api.create(customResourceDefinitions, definitionOf(kind));
    const version = apiVersion(kind);
    await until(() => api.kinds().some((served) => apiVersion(served) === version), `${kind.kind} is served`);
  }
}

/** Somebody who changes workloads and policies by requests. */
function changing({ client }: Stage): Changing {
  return {
    client,
    freeze: async (name, spec = {}) =>
      expectCode(201, await client.call('POST', `${policies}/changefreezes`, { body: freezeNamed(name, spec) })),
    merge: (path, body) =>
      client.call('PATCH', path, {
        body,
        headers: { 'content-type': 'application/merge-patch+json', ...asSomebody },
      }),
    remove: async (path) => {
      expectCode(200, await client.call('DELETE', path));
    },
  };
}

/** Not an administrator to the function, but allowed everything by rights. */
const asSomebody = { 'impersonate-user': 'dev@x', 'impersonate-group': ['system:masters'] };
