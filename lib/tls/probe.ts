import { connect } from 'node:tls';
import type { Kube } from '../kube/client.ts';
import { endpointSlices } from '../kube/model/resource.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Expected {
  /** The name that the certificate must carry. */
  readonly serverName: string;
  /** PEM certificates, one of which must vouch for the replica's. */
  readonly ca: string;
}

const patienceMs = 3_000;

/** Whether a TLS client that trusts only `ca` can connect. */
export function answersFor({ host, port }: Address, { serverName, ca }: Expected): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, servername: serverName, ca, minVersion: 'TLSv1.3', timeout: patienceMs });
    function end(trusted: boolean): void {
      socket.destroy();
      resolve(trusted);
    }
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/** Every replica behind the Service. */
export async function replicasOf(
  kube: Kube,
  { service, namespace }: { readonly service: string; readonly namespace: string },
): Promise<Address[]> {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  const { items } = await kube.list(endpointSlices, { namespace, labelSelector });
  return items.flatMap(({ endpoints, ports }) =>
    listed(endpoints)
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) =>
        addresses.flatMap((host) => listed(ports).flatMap(({ port }) => (port === undefined ? [] : [{ host, port }]))),
      ),
  );
}

/** The API server writes an empty list of a slice as null: that of a Service without pods. */
function listed<T>(items: readonly T[] | null | undefined): readonly T[] {
  return items ?? [];
}
