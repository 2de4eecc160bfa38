import { managerName, type Config } from '../config.ts';
import type { NamespaceView } from '../mesh/mesh.ts';
import { wishes } from '../names.ts';
import type { Workload } from './workload.ts';

/** What people want for a workload, by annotations of its own, of its namespace, or by the settings. */
export interface Wishes {
  readonly policy: 'auto' | 'report' | 'ignore';
  readonly window: string;
  readonly priority: number;
  readonly fieldManager: string;
}

export function wishesOf(
  { annotations }: Pick<Workload, 'annotations'>,
  namespace: Pick<NamespaceView, 'annotations'> | undefined,
  { WINDOW, FIELD_MANAGER }: Pick<Config, 'WINDOW' | 'FIELD_MANAGER'>,
): Wishes {
  function wish(name: keyof typeof wishes): string | undefined {
    return annotations[wishes[name]] ?? namespace?.annotations[wishes[name]];
  }
  const priority = wish('priority') ?? '';
  const manager = wish('fieldManager') ?? '';
  return {
    policy: policyOf(wish('policy')),
    window: wish('window') ?? WINDOW,
    priority: /^-?\d{1,9}$/.test(priority) ? Number(priority) : 0,
    fieldManager: managerName.test.test(manager) ? manager : FIELD_MANAGER,
  };
}

/** A word that nobody knows is a wish to be careful. */
function policyOf(word: string | undefined): Wishes['policy'] {
  switch (word) {
    case undefined:
    case '':
    case 'auto':
      return 'auto';
    case 'ignore':
      return 'ignore';
    default:
      return 'report';
  }
}
