import { matchesLabelSelector } from '../../kube/model/selector.ts';
import { type Caller, controller, type InternalApi } from '../model/internal.ts';
import { type ClusterRole, clusterRoles, type PolicyRule } from '../access/rbac.ts';
import { isEqual } from '../schema/value.ts';
import { keyOf, parseKey } from './owned.ts';
import { createQueue } from './queue.ts';

const as: Caller = controller('clusterrole-aggregation');

/** Fills ClusterRoles that gather the rules of others. The answer stops it. */
export function startClusterRoles(api: InternalApi): () => void {
  const queue = createQueue(api.clock, look);

  async function look(key: string): Promise<void> {
    const role = api.get(clusterRoles, parseKey(key).name) as ClusterRole | undefined;
    if (role?.aggregationRule === undefined) {
      return;
    }
    const rules = gathered(role, api.list(clusterRoles));
    if (!isEqual(rules, role.rules ?? [])) {
      const next: ClusterRole = { ...role, rules };
      await api.update(clusterRoles, next, {}, as);
    }
  }

  function lookAtGatherers(): void {
    for (const role of api.list(clusterRoles) as readonly ClusterRole[]) {
      if (role.aggregationRule !== undefined) {
        queue.add(keyOf(role));
      }
    }
  }

  const unsubscribe = api.subscribe(clusterRoles, lookAtGatherers);
  lookAtGatherers();
  return () => {
    queue.close();
    unsubscribe();
  };
}

/** The rules of all selected roles in order of their names, each once. */
function gathered(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  const selected = all
    .filter(({ metadata }) => metadata?.name !== role.metadata?.name)
    .filter(({ metadata }) => selectors.some((selector) => matchesLabelSelector(selector, metadata?.labels ?? {})))
    .toSorted((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const rule of selected.flatMap((each) => each.rules ?? [])) {
    if (!rules.some((known) => isEqual(known, rule))) {
      rules.push(rule);
    }
  }
  return rules;
}
