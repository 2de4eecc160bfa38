import type { Config } from '../config.ts';
import type { Workload } from '../scan/workload.ts';
import type { Candidate, InFlight } from '../state/state.ts';

type Limits = Pick<Config, 'MAX_IN_FLIGHT' | 'MAX_IN_FLIGHT_PER_NAMESPACE' | 'MAX_IN_FLIGHT_PODS'>;

/** How many pods a restart puts in flight: all, or the one that is evicted. */
export function podsAtOnce({ hold, replicas }: Workload): number {
  return hold === 'OnDelete' ? 1 : replicas;
}

/**
 * Whether the wave has room for this one. Rollouts that failed and have not recovered take part in it: their pods are as
 * missing as any. A workload of more pods than are allowed at once may go alone.
 */
export function hasRoom(
  inflight: readonly InFlight[],
  { namespace, uid }: Pick<Candidate, 'namespace' | 'uid'>,
  pods: number,
  { MAX_IN_FLIGHT, MAX_IN_FLIGHT_PER_NAMESPACE, MAX_IN_FLIGHT_PODS }: Limits,
): boolean {
  const others = inflight.filter((each) => each.uid !== uid);
  const here = others.filter((each) => each.namespace === namespace).length;
  const podsInFlight = others.reduce((sum, each) => sum + each.pods, 0);
  const hasPods = MAX_IN_FLIGHT_PODS === 0 || podsInFlight === 0 || podsInFlight + pods <= MAX_IN_FLIGHT_PODS;
  return others.length < MAX_IN_FLIGHT && here < MAX_IN_FLIGHT_PER_NAMESPACE && hasPods;
}
