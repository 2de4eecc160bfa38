import { type Permission, placesOf } from '../../function/permissions.ts';
import type { Found } from './finding.ts';

/** One thing that an account must be allowed to do, as an access review asks for it. */
export interface Question {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  /** Absent: in all namespaces. */
  readonly namespace?: string;
}

/** How many questions are asked at once: some functions have hundreds of rights. */
export const width = 8;

/** Every right on its own, so that an answer names what is missing. */
export function questionsOf(permissions: readonly Permission[], own: string): Question[] {
  return permissions.flatMap(({ groups, resources, verbs, names = [undefined], scope }) =>
    combinations(groups, resources, verbs).flatMap(([group, path, verb]) =>
      placesOf(scope, own).flatMap((namespace) =>
        names.map((name) => {
          const [resource = path, subresource] = path.split('/');
          return {
            verb,
            group,
            resource,
            ...(subresource === undefined ? {} : { subresource }),
            ...(name === undefined ? {} : { name }),
            ...(namespace === undefined ? {} : { namespace }),
          };
        }),
      ),
    ),
  );
}

function combinations(
  groups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
): (readonly [string, string, string])[] {
  return groups.flatMap((group) => resources.flatMap((path) => verbs.map((verb) => [group, path, verb] as const)));
}

/** What the answers mean for the account. */
export function examineRights(account: string, answers: readonly (readonly [Question, boolean])[]): Found {
  const check = `rights of ${account}`;
  const missing = answers.filter(([, allowed]) => !allowed).map(([question]) => describe(question));
  return missing.length === 0
    ? { check, state: 'ok', message: `all ${answers.length} that it asks for are granted` }
    : {
        check,
        state: 'error',
        message: `it may not ${missing.slice(0, 5).join('; ')}${missing.length > 5 ? ` and ${missing.length - 5} more` : ''}`,
        fix: 'apply its ClusterRoles, Roles and bindings again; for other settings than the defaults npm run manifests -- --set FUNCTION.NAME=VALUE --out DIR writes them',
      };
}

function describe({ verb, group, resource, subresource, name, namespace }: Question): string {
  const what = [resource, ...(subresource === undefined ? [] : [subresource])].join('/');
  return [
    verb,
    group === '' ? what : `${what}.${group}`,
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...(namespace === undefined ? [] : [`in ${namespace}`]),
  ].join(' ');
}
