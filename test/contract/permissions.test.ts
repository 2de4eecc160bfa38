import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Watch } from '../../lib/function/triggers.ts';
import { kubeconfigAccess, type Access } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import { apiVersion, groupVersion, namespaces } from '../../lib/kube/model/resource.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { partName, type Part } from '../../lib/function/names.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';
import { areShared, shared } from '../../lib/install/manifests/sources.ts';
import { kubeconfigFor } from '../../lib/sandbox/http/kubeconfig.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send, startApp } from '../support/http.ts';
import { environmentOf, functionsUnderTest, watchesOf } from './functions.ts';

const definitions = await functionsUnderTest();
const { namespace } = standardInstallation;
const rights = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s under its shipped rights',
  (name, definition) => {
    let sandbox: Sandbox;

    beforeAll(async () => {
      sandbox = await startSandbox({ rbac: true });
      const installed = [...renderFunction(definition).manifests, ...renderShared([definition])];
      const granted = installed.filter(({ kind }) => rights.has(kind));
      const places = new Set([namespace, ...granted.flatMap(({ metadata }) => metadata.namespace ?? [])]);
      for (const name of [...places].filter((place) => sandbox.api.get(namespaces, place) === undefined)) {
        await sandbox.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      }
      for (const manifest of granted) {
        await sandbox.api.create(kindOf(sandbox, manifest), manifest);
      }
    });

    afterAll(() => sandbox.close());

    it('may do all that its events and ticks ask for', async () => {
      const calls: Call[] = [];
      const app = await startApp(definition, {
        access: await accountAccess(sandbox, { name, part: 'events', place: namespace }),
        environment: { ...environmentOf(definition), POD_NAMESPACE: namespace },
        observe: (call) => calls.push(call),
      });
      const events = watchesOf(definition).map(({ resource }) =>
        binaryEvent({
          type: 'dev.knative.apiserver.ref.update',
          apiVersion: apiVersion(resource),
          kind: resource.kind,
          name: 'some-object',
          namespace: resource.namespaced ? namespace : '',
        }),
      );
      const statuses: number[] = [];
      for (const event of [binaryEvent({ type: 'dev.knative.sources.ping' }), ...events]) {
        statuses.push((await send(app.url, event)).status);
      }
      await app.close();

      expect(calls.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
      expect(new Set(statuses)).toEqual(new Set([204]));
    });

    it('may watch, as its event source or the shared one, what it declares', async () => {
      const denied: string[] = [];
      for (const { watch, place } of watchesOf(definition).flatMap(placesOf)) {
        const { group, plural } = watch.resource;
        const sender = areShared([watch]) ? shared : name;
        const access = await (await accountAccess(sandbox, { name: sender, part: 'source', place }))();
        for (const verb of ['get', 'list', 'watch']) {
          const review = {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { resourceAttributes: { verb, group, resource: plural, namespace: place } },
          };
          const { status } = (await post(
            sandbox,
            '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
            review,
            access.headers['authorization'],
          )) as { status: { allowed: boolean } };
          denied.push(...(status.allowed ? [] : [`${verb} ${plural} in ${place}`]));
        }
      }

      expect(denied).toEqual([]);
    });
  },
);

/** Where the source of a watch is, and looks. */
function placesOf(watch: Watch): { readonly watch: Watch; readonly place: string }[] {
  const places = typeof watch.scope === 'object' ? watch.scope.namespaces : [namespace];
  return places.map((place) => ({ watch, place }));
}

function kindOf(
  { api }: Sandbox,
  manifest: { readonly apiVersion: string; readonly kind: string },
): { group: string; plural: string } {
  const { group } = groupVersion(manifest.apiVersion);
  const kind = api.kinds().find((served) => served.group === group && served.kind === manifest.kind);
  if (kind === undefined) {
    throw new Error(`the sandbox does not serve ${manifest.kind}`);
  }
  return kind;
}

/** The cluster as a shipped ServiceAccount sees it, by a token that the API issued. */
async function accountAccess(
  sandbox: Sandbox,
  { name, part, place }: { readonly name: string; readonly part: Part; readonly place: string },
): Promise<Access> {
  const path = `/api/v1/namespaces/${place}/serviceaccounts/${partName(name, part)}/token`;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const issued = (await post(sandbox, path, request)) as { status: { token: string } };
  const config = kubeconfigFor({ server: sandbox.url, ca: sandbox.ca, token: issued.status.token });
  return kubeconfigAccess(JSON.stringify(config));
}

/** Over plain HTTP everybody is the administrator, unless a token says otherwise. */
async function post({ httpUrl }: Sandbox, path: string, body: unknown, authorization?: unknown): Promise<unknown> {
  const response = await fetch(new URL(path, httpUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(typeof authorization === 'string' ? { authorization } : {}) },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return response.json();
}
