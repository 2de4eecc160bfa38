import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accountAccess, grant } from '../../lib/cli/start/accounts.ts';
import type { Watch } from '../../lib/function/triggers.ts';
import { partName } from '../../lib/function/names.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { renderShared } from '../../lib/install/manifests/shared.ts';
import { areShared, shared } from '../../lib/install/manifests/sources.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { functionsUnderTest, watchesOf } from './functions.ts';

const definitions = await functionsUnderTest();
const { namespace } = standardInstallation;
const rights = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  'the event source of %s',
  (name, definition) => {
    let sandbox: Sandbox;

    beforeAll(async () => {
      sandbox = await startSandbox({ rbac: true, controllers: false });
      const installed = [...renderFunction(definition).manifests, ...renderShared([definition])];
      await grant(
        sandbox,
        installed.filter(({ kind }) => rights.has(kind)),
      );
    });

    afterAll(() => sandbox.close());

    it('may watch, by its own account or the shared one, what the function declares', async () => {
      const denied: string[] = [];
      for (const { watch, place } of watchesOf(definition).flatMap(placesOf)) {
        const { group, plural: resource } = watch.resource;
        const sender = partName(areShared([watch]) ? shared : name, 'source');
        for (const verb of ['get', 'list', 'watch']) {
          const attributes = { verb, group, resource, namespace: place };
          if (!(await isAllowed(sandbox, { name: sender, namespace: place }, attributes))) {
            denied.push(`${verb} ${resource} in ${place}`);
          }
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

async function isAllowed(
  sandbox: Sandbox,
  account: { readonly name: string; readonly namespace: string },
  resourceAttributes: object,
): Promise<boolean> {
  const transport = createTransport(accountAccess(sandbox, account));
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const { body } = await transport.send({ method: 'POST', path, body: JSON.stringify(review) });
  transport.close();
  return (JSON.parse(body) as { status: { allowed: boolean } }).status.allowed;
}
