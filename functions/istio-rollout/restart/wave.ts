import type { Config } from '../config.ts';
import type { Candidate, InFlight } from '../state/state.ts';

type Limits = Pick<Config, 'MAX_IN_FLIGHT' | 'MAX_IN_FLIGHT_PER_NAMESPACE' | 'MAX_IN_FLIGHT_PODS'>;

/** Whether one more restart anywhere would be too many. */
export function isFull(inflight: readonly InFlight[], { MAX_IN_FLIGHT }: Limits): boolean {
  return inflight.length >= MAX_IN_FLIGHT;
}

/** Whether the wave has room for this one. A workload of more pods than are allowed at once may go alone. */
export function hasRoom(
  inflight: readonly InFlight[],
  { namespace }: Pick<Candidate, 'namespace'>,
  pods: number,
  limits: Limits,
): boolean {
  const here = inflight.filter((each) => each.namespace === namespace).length;
  const podsInFlight = inflight.reduce((sum, each) => sum + each.pods, 0);
  const hasPods =
    limits.MAX_IN_FLIGHT_PODS === 0 || podsInFlight === 0 || podsInFlight + pods <= limits.MAX_IN_FLIGHT_PODS;
  return !isFull(inflight, limits) && here < limits.MAX_IN_FLIGHT_PER_NAMESPACE && hasPods;
}
