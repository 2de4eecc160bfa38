import type { V1NetworkPolicy, V1PodDisruptionBudget, V1PriorityClass } from '@kubernetes/client-node';
import type { Wire } from '../../kube/model/wire.ts';
import { standardPorts } from './container.ts';
import { clusterName } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';

export interface OwnMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Pods wait for the webhook, so it must not wait for them: a priority above all but the nodes' own pods. */
export function priorityClass({ name, labels }: OwnMetadata): Manifest {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: clusterName(name), labels },
    value: 2_100_000,
    description: 'for a webhook that is called when other pods are created',
  } satisfies Wire<V1PriorityClass>;
}

/** Keeps one replica available and unwanted traffic away. */
export function guardsOf(metadata: OwnMetadata): Manifest[] {
  return [disruptionBudget(metadata), networkPolicy(metadata)];
}

function disruptionBudget(metadata: OwnMetadata): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { minAvailable: 1, selector: { matchLabels: metadata.labels } },
  } satisfies Wire<V1PodDisruptionBudget>;
}

/**
 * The API server is not a pod: it may have any address, on the usual ports. The last two are those of minikube and
 * MicroK8s; without them a webhook that fails closed would never start there.
 */
const apiServerPorts = [443, 6443, 8443, 16443];

/** The label that identifies a metrics scraper. */
const scraper = { 'networking.kyma-project.io/metrics-scraping': 'allowed' };

function networkPolicy(metadata: OwnMetadata): Manifest {
  const own = { podSelector: { matchLabels: metadata.labels } };
  const { http, https } = standardPorts();
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: {
      ...own,
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: [tcp(https)] },
        { from: [{ namespaceSelector: {}, podSelector: { matchLabels: scraper } }], ports: [tcp(http)] },
      ],
      egress: [
        { ports: apiServerPorts.map(tcp) },
        { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
        { to: [own], ports: [tcp(https)] },
      ],
    },
  } satisfies Wire<V1NetworkPolicy>;
}

function tcp(port: number): { protocol: string; port: number } {
  return { protocol: 'TCP', port };
}
