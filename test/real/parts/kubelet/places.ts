import type { Pod } from '../../../../lib/kube/model/resource.ts';
import { portsPerRun } from '../ports.ts';

/** Where a pod is found, in the cluster and here. */
export interface Place {
  readonly ip: string;
  /** The port here of each port of its container. */
  readonly ports: Readonly<Record<number, number>>;
}

const firstPort = 30;
/** Whoever listens on it owns the block. */
const lastPort = portsPerRun - 1;

/** Gives every pod a place in the block of ports that begins at `base`, the same one for as long as the pod lives. */
export function createPlaces(base: number): (pod: Pod) => Place {
  const places = new Map<string, Place>();
  let next = firstPort;
  return (pod) => {
    const { uid = '', name = '' } = pod.metadata ?? {};
    const known = places.get(uid);
    if (known !== undefined) {
      return known;
    }
    const wanted = (pod.spec?.containers[0]?.ports ?? []).map(({ containerPort }) => containerPort);
    if (next + wanted.length > lastPort) {
      throw new Error(`there are no ports left for pod ${name}`);
    }
    const ports = Object.fromEntries(wanted.map((port, index) => [port, base + next + index]));
    const place = { ip: `10.244.0.${places.size + 1}`, ports };
    places.set(uid, place);
    next += wanted.length;
    return place;
  };
}
