import type { KubeObject } from '../../kube/model/wire.ts';
import { type Kind, resourceName } from '../model/kinds.ts';
import { isRecord } from '../../base/json.ts';
import { type Json, listAt, objectAt, stringAt } from '../schema/value.ts';

const firstNodePort = 30_000;
const nodePorts = 2768;

/** What the API server allots to a Service and keeps for its life: addresses and node ports. */
export function withAddresses(kind: Kind, object: KubeObject, old?: KubeObject): KubeObject {
  const spec = objectAt(object, 'spec');
  if (resourceName(kind) !== 'services' || spec['type'] === 'ExternalName') {
    return object;
  }
  const uid = object.metadata?.uid ?? '';
  const before = objectAt(old, 'spec');
  const hasNodePorts = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
  const allotted = {
    ...addresses(spec, before, uid),
    ...(hasNodePorts && { ports: withNodePorts(spec, before, uid) }),
  };
  return { ...object, ...{ spec: { ...spec, ...allotted } } };
}

function addresses(spec: Json, before: Json, uid: string): Json {
  const clusterIP = stringAt(spec, 'clusterIP') ?? stringAt(before, 'clusterIP') ?? addressFor(uid);
  return {
    clusterIP,
    clusterIPs: spec['clusterIPs'] ?? [clusterIP],
    ipFamilies: spec['ipFamilies'] ?? ['IPv4'],
    ipFamilyPolicy: spec['ipFamilyPolicy'] ?? 'SingleStack',
  };
}

/** The same uid always gives the same address; two Services hardly ever get the same one. */
function addressFor(uid: string): string {
  const number = Number.parseInt(uid.slice(0, 4), 16) || 0;
  return `10.96.${number >>> 8}.${Math.max(2, number & 0xff)}`;
}

function withNodePorts(spec: Json, old: Json, uid: string): readonly unknown[] {
  const before = listAt(old, 'ports').filter(isRecord);
  const seed = Number.parseInt(uid.slice(4, 8), 16) || 0;
  return listAt(spec, 'ports').map((port, index) => {
    if (!isRecord(port) || port['nodePort'] !== undefined) {
      return port;
    }
    const kept = before.find((each) => each['port'] === port['port'])?.['nodePort'];
    return { ...port, nodePort: kept ?? firstNodePort + ((seed + index) % nodePorts) };
  });
}
