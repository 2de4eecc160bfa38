import type { Manifest } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';
import { deliveryAt } from './triggers.ts';

const labels = { 'app.kubernetes.io/part-of': 'kube-reflex' };

/** The namespace of an installation. */
export function namespaceOf({ namespace }: Installation): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
}

/**
 * The Broker of an installation on Knative. Delivery is synchronous on purpose: the source keeps an event until the
 * function has answered. With `messaging.knative.dev/async-handler`, events would wait in memory and be lost with the
 * pod.
 */
export function brokerOf(site: Installation): Manifest {
  const { broker, namespace } = site;
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    metadata: { name: broker, namespace, labels },
    spec: { delivery: deliveryAt(site) },
  };
}
