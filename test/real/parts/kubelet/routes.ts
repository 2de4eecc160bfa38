import type { Pod, Service } from '../../../../lib/kube/model/resource.ts';
import type { Routes } from './network.ts';
import type { Place } from './places.ts';

/** A pod that runs on this machine. */
export interface Placed extends Place {
  readonly pod: Pod;
  readonly ready: boolean;
}

/** How everything that has an address in the cluster is found here: pods, and Services that lead to a ready one. */
export function routesOf(placed: readonly Placed[], services: readonly Service[]): Routes {
  const ofPods = placed.flatMap(({ ip, ports }) =>
    Object.entries(ports).map(([port, here]) => [`${ip}:${port}`, here] as const),
  );
  const ofServices = services.flatMap((service) => {
    const behind = placed.find(({ pod, ready }) => ready && isBehind(service, pod));
    return behind === undefined ? [] : addressesOf(service, behind);
  });
  return Object.fromEntries([...ofPods, ...ofServices]);
}

function isBehind({ metadata, spec }: Service, { metadata: { namespace, labels = {} } = {} }: Pod): boolean {
  const selector = Object.entries(spec?.selector ?? {});
  const selected = selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
  return selected && metadata?.namespace === namespace;
}

function addressesOf({ metadata, spec }: Service, { pod, ports }: Placed): (readonly [string, number])[] {
  const name = `${metadata?.name ?? ''}.${metadata?.namespace ?? ''}.svc`;
  return (spec?.ports ?? []).flatMap(({ port, targetPort = port }) => {
    const here = ports[typeof targetPort === 'number' ? targetPort : portNamed(targetPort, pod)];
    const hosts = [name, ...(spec?.clusterIP === undefined ? [] : [spec.clusterIP])];
    return here === undefined ? [] : hosts.map((host) => [`${host}:${port}`, here] as const);
  });
}

/** The number of a port that the pod's container names. */
export function portNamed(name: string, { spec }: Pod): number {
  const found = spec?.containers[0]?.ports?.find((port) => port.name === name);
  return found?.containerPort ?? 0;
}
