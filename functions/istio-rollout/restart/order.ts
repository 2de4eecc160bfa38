import type { Config } from '../config.ts';
import type { Candidate } from '../state/state.ts';

/** Who goes first: lower priority numbers, then gateways as the settings say, then by kind and name. */
export function inOrder(
  candidates: readonly Candidate[],
  { GATEWAY_ORDER }: Pick<Config, 'GATEWAY_ORDER'>,
): readonly Candidate[] {
  const gatewayFirst = GATEWAY_ORDER === 'first' ? -1 : 1;
  function keysOf({ priority, isGateway, kind, namespace, name }: Candidate): readonly (number | string)[] {
    return [priority, isGateway ? gatewayFirst : 0, kind, namespace, name];
  }
  return candidates.toSorted((a, b) => compare(keysOf(a), keysOf(b)));
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const index = a.findIndex((key, at) => key !== b[at]);
  const [left = 0, right = 0] = [a[index], b[index]];
  if (index < 0) {
    return 0;
  }
  return left < right ? -1 : 1;
}
