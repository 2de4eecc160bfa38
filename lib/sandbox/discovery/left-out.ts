/** Parts of the real API that the sandbox knows of and does not serve. */
const leftOutGroups = new Set([
  'apiregistration.k8s.io',
  'certificates.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'metrics.k8s.io',
  'node.k8s.io',
  'resource.k8s.io',
  'storagemigration.k8s.io',
]);

const leftOutKinds = new Set([
  '/v1/bindings',
  '/v1/componentstatuses',
  'autoscaling/v1/horizontalpodautoscalers',
  'networking.k8s.io/v1/ipaddresses',
  'networking.k8s.io/v1/servicecidrs',
  'storage.k8s.io/v1/csidrivers',
  'storage.k8s.io/v1/csinodes',
  'storage.k8s.io/v1/csistoragecapacities',
  'storage.k8s.io/v1/volumeattachments',
  'storage.k8s.io/v1/volumeattributesclasses',
]);

/** Kinds that the tables describe but the sandbox does not serve: another version of the same objects. */
export function isLeftOut({ group, version, plural }: { group: string; version: string; plural: string }): boolean {
  return leftOutGroups.has(group) || leftOutKinds.has(`${group}/${version}/${plural}`);
}
