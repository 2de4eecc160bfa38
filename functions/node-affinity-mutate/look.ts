import type { Wake } from '../../lib/function/triggers.ts';

/** What to read again. */
export interface Look {
  readonly rules: boolean;
  readonly namespaces: 'all' | readonly string[];
  /** `missing` looks only for pools that are not known to have nodes: those may have come. */
  readonly pools: 'all' | 'missing';
  readonly coverage: boolean;
}

const everything: Look = { rules: true, namespaces: 'all', pools: 'all', coverage: false };

/** An event is a reason to look at what it was about; a tick, or a state that is gone, at everything. */
export function lookFor({ tick, subjects }: Wake, stateIsThere: boolean): Look {
  if (tick || !stateIsThere || subjects.some(({ kind }) => kind === 'ConfigMap')) {
    return { ...everything, coverage: tick };
  }
  return {
    rules: false,
    namespaces: subjects.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name),
    pools: subjects.some(({ kind }) => kind === 'Node') ? 'all' : 'missing',
    coverage: false,
  };
}
