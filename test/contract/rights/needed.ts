import { partName } from '../../../lib/function/names.ts';
import { placesOf, type Permission } from '../../../lib/function/permissions.ts';
import { permissionsOf } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { accountWith } from '../../../lib/install/manifests/rights.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { groupVersion } from '../../../lib/kube/model/resource.ts';
import { createAuthorizer, type ResourceAccess } from '../../../lib/sandbox/access/rbac.ts';
import type { KindRef } from '../../../lib/sandbox/model/internal.ts';

const { namespace: own } = standardInstallation;

/** A workload of a function, and so an account. */
export type Half = 'events' | 'webhook';

/** A half of a function in one run: what it was granted and what it asked for. */
export interface Exercise {
  readonly name: string;
  readonly half: Half;
  readonly permissions: readonly Permission[];
  readonly calls: readonly ResourceAccess[];
}

/** Namespaces that every cluster has: what is used nowhere else needs no right in the whole cluster. */
const alwaysThere = ['default', 'kube-node-lease', 'kube-public', 'kube-system', own];

/**
 * What of its rights a half could do without, in words: each is left out by itself, verb by verb, and every recorded call
 * is put before the sandbox's own authorizer. A verb whose absence refuses nothing is needless, and so is a right in the
 * whole cluster where one in the namespaces known at installation would do.
 */
export function needlessRights(exercises: readonly Exercise[]): readonly string[] {
  const all = new Set<string>();
  const needed = new Set<string>();
  const neededWide = new Set<string>();
  for (const exercise of exercises) {
    const rights = singleRights(exercise);
    for (const right of rights) {
      const words = wordsFor(exercise.half, right);
      const others = rights.filter((other) => other !== right);
      all.add(words);
      if (refusedWith(others, exercise).length > 0) {
        needed.add(words);
      }
      if (right.scope !== 'cluster' || refusedWith([...others, narrowed(right, rights)], exercise).length > 0) {
        neededWide.add(words);
      }
    }
  }
  const tooWide = needed.difference(neededWide);
  return [...all.difference(needed), ...[...tooWide].map((words) => `${words}, known namespaces would do`)].sort();
}

/** The same right in the namespaces that are known when the function is installed. */
function narrowed(right: Permission, rights: readonly Permission[]): Permission {
  const places = rights.flatMap(({ scope }) => placesOf(scope, own)).filter((place) => place !== undefined);
  return { ...right, scope: { namespaces: [...new Set([...alwaysThere, ...places])] } };
}

/** A right of a half that some call of the run needs; one to write if there is such a right. */
export function someNeededRight(exercise: Exercise): Permission | undefined {
  const rights = singleRights(exercise);
  const needed = rights.filter((right) => {
    const others = rights.filter((other) => other !== right);
    return refusedWith(others, exercise).length > 0;
  });
  return needed.findLast(({ verbs }) => !verbs.some((verb) => verb === 'get' || verb === 'list')) ?? needed.at(-1);
}

/** The permissions without that one right. */
export function without(right: Permission, permissions: readonly Permission[]): readonly Permission[] {
  const { role: _role, ...gone } = right;
  return exploded(permissions).filter(({ role: _of, ...other }) => JSON.stringify(other) !== JSON.stringify(gone));
}

function singleRights({ half, permissions }: Exercise): readonly Permission[] {
  return exploded(permissionsOf(half === 'events' ? 'events' : 'admission', permissions));
}

/** Each verb for each resource in each place as a permission of its own. */
function exploded(permissions: readonly Permission[]): readonly Permission[] {
  return permissions.flatMap(({ groups, resources, verbs, scope, ...limits }) =>
    groups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          placesOf(scope, own).map((place) => ({
            ...limits,
            groups: [group],
            resources: [resource],
            verbs: [verb],
            scope: place === undefined ? ('cluster' as const) : { namespaces: [place] },
          })),
        ),
      ),
    ),
  );
}

/** `webhook: get configmaps "state" in kube-reflex`. */
function wordsFor(half: Half, { groups, resources, verbs, names, scope }: Permission): string {
  const [group = ''] = groups;
  const what = `${verbs.join()} ${resources.join()}${group === '' ? '' : `.${group}`}`;
  const [first = '', ...more] = names ?? [];
  const named = names === undefined ? '' : ` "${first}"${more.length === 0 ? '' : ` and ${more.length} more`}`;
  const where = typeof scope === 'object' ? ` in ${scope.namespaces.join()}` : ' in the cluster';
  return `${half}: ${what}${named}${where}`;
}

/** The calls that an account with these permissions is refused, as the manifests grant them. */
function refusedWith(permissions: readonly Permission[], exercise: Exercise): readonly ResourceAccess[] {
  const { name, half, calls } = exercise;
  const account = partName(name, half);
  const authorizer = createAuthorizer(stored(accountWith({ name, part: half, namespace: own }, permissions)));
  const caller = { username: `system:serviceaccount:${own}:${account}`, groups: ['system:authenticated'] };
  return calls.filter((call) => !authorizer.decide(caller, call).allowed);
}

/** The manifests as an API that holds nothing else. */
function stored(manifests: readonly Manifest[]): Parameters<typeof createAuthorizer>[0] {
  function of({ group, plural }: KindRef): readonly Manifest[] {
    return manifests.filter(
      ({ apiVersion, kind }) => groupVersion(apiVersion).group === group && `${kind.toLowerCase()}s` === plural,
    );
  }
  return {
    get: (kind, name, namespace) =>
      of(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
    list: (kind, { namespace } = {}) =>
      of(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  };
}
