import type { KubeObject } from '../../kube/model/wire.ts';
import { listAt, objectAt, stringAt } from '../schema/value.ts';
import { type Cells, joined, labelsText, missing, objectsAt, textCell } from './cell.ts';

export const serviceCells: Cells = {
  Type: textCell('', 'spec', 'type'),
  'Cluster-IP': textCell(missing, 'spec', 'clusterIP'),
  'External-IP': externalAddress,
  'Port(s)': (service) => joined(objectsAt(service, 'spec', 'ports').map(portText)),
  Selector: (service) => labelsText(objectAt(service, 'spec', 'selector')),
};

function externalAddress(service: KubeObject): string {
  const external = listAt(service, 'spec', 'externalIPs').map(String);
  const type = stringAt(service, 'spec', 'type');
  if (type === 'ExternalName') {
    return stringAt(service, 'spec', 'externalName') ?? missing;
  }
  if (type !== 'LoadBalancer') {
    return joined(external);
  }
  const addresses = [...loadBalancerAddresses(service), ...external];
  return addresses.length === 0 ? '<pending>' : addresses.join(',');
}

/** The addresses at which a load balancer of a Service or Ingress answers. */
export function loadBalancerAddresses(object: KubeObject): readonly string[] {
  return objectsAt(object, 'status', 'loadBalancer', 'ingress')
    .map(({ ip, hostname }) => ip ?? hostname)
    .filter((address) => typeof address === 'string');
}

function portText(port: Readonly<Record<string, unknown>>): string {
  const { nodePort, protocol = 'TCP' } = port;
  return `${String(port['port'])}${typeof nodePort === 'number' ? `:${nodePort}` : ''}/${String(protocol)}`;
}
