import type { Context } from '../../../lib/function/definition.ts';
import { Refusal } from '../../../lib/kube/refusal.ts';
import { deployments, podDisruptionBudgets } from '../../../lib/kube/model/resource.ts';
import type { Config } from '../config.ts';
import type { Pass } from '../pass.ts';
import type { Identity } from '../state/state.ts';
import { workloadOf, type Progress } from '../scan/workload.ts';
import { createFreezeCheck } from './freeze.ts';
import type { Surroundings } from './gates.ts';

/** Reads the surroundings of workloads, each thing once per pass. */
export type Surveyor = (identity: Identity, revision: string | undefined) => Promise<Omit<Surroundings, 'isHealing'>>;

export function createSurveyor(
  { kube, signal, now, log }: Pick<Context<Config>, 'kube' | 'signal' | 'log'> & Pick<Pass, 'now'>,
  config: Config,
): Surveyor {
  const budgets = new Map<string, Promise<Surroundings['budgets']>>();
  let istiods: Promise<readonly Istiod[]> | undefined;
  const { FREEZE_URL } = config;
  const frozenUntil = FREEZE_URL === '' ? undefined : createFreezeCheck(FREEZE_URL, { signal, now, onTrouble });
  let hasWarned = false;

  /** Told once: the next workload would meet the same. */
  function onTrouble(error: unknown): void {
    if (!hasWarned) {
      hasWarned = true;
      log.warn({ err: error }, 'FREEZE_URL gives no answer, which counts as a no');
    }
  }

  async function budgetsIn(namespace: string): Promise<Surroundings['budgets']> {
    try {
      return (await kube.list(podDisruptionBudgets, { namespace })).items;
    } catch (error) {
      if (error instanceof Refusal && error.code === 403) {
        return 'forbidden';
      }
      throw error;
    }
  }

  async function readIstiods(): Promise<readonly Istiod[]> {
    const found = await Promise.all(
      config.ISTIO_NAMESPACES.map((namespace) =>
        kube.pick(deployments, { namespace, labelSelector: 'app=istiod' }, (object): Istiod => {
          const revision = object.metadata?.labels?.['istio.io/rev'];
          return {
            progress: workloadOf('Deployment', object)?.progress ?? 'settled',
            ...(revision !== undefined && { revision }),
          };
        }),
      ),
    );
    return found.flatMap(({ items }) => items);
  }

  return async ({ kind, namespace, name }, revision) => {
    if (config.RESPECT_PDB && !budgets.has(namespace)) {
      budgets.set(namespace, budgetsIn(namespace));
    }
    if (config.REQUIRE_ISTIOD_READY) {
      istiods ??= readIstiods();
    }
    const [found = [], present = [], until] = await Promise.all([
      budgets.get(namespace),
      istiods,
      frozenUntil?.({ kind, namespace, name }),
    ]);
    const own = present.filter((istiod) => istiod.revision === revision);
    return {
      budgets: found,
      // An istiod that runs elsewhere cannot be seen; its probes answered, which is all there is to know.
      isIstiodReady: own.every(({ progress }) => progress === 'settled'),
      ...(until !== undefined && { frozenUntil: until }),
    };
  };
}

interface Istiod {
  readonly revision?: string;
  readonly progress: Progress;
}
