import type { Admission, Webhook } from '../../function/admission.ts';
import type { Deployment, Service } from '../../kube/model/resource.ts';
import type { LabelSelector } from '../../kube/model/selector.ts';
import { containerOf, standardPorts, volumesOf, type ContainerSpec } from './container.ts';
import { clusterName, labelsOf, partName } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';
import { guardsOf, priorityClass, type OwnMetadata } from './webhook-guards.ts';

/** The admission role of a function. It is a Deployment, because the API server cannot call a Knative Service. */
export function webhookWorkload(spec: Omit<ContainerSpec, 'role'>, site: Installation): Manifest[] {
  const metadata = {
    name: partName(spec.name, 'webhook'),
    namespace: site.namespace,
    labels: labelsOf(spec.name, 'webhook'),
  };
  return [priorityClass(metadata), deployment(spec, metadata, site), service(metadata), ...guardsOf(metadata)];
}

function deployment(spec: Omit<ContainerSpec, 'role'>, metadata: OwnMetadata, site: Installation): Manifest {
  const { name, labels } = metadata;
  const { http, https } = standardPorts();
  const container = containerOf({ ...spec, role: 'admission' }, site);
  const selector = { matchLabels: labels };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 2,
      selector,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          priorityClassName: clusterName(name),
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 60,
          topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: selector,
          })),
          containers: [
            {
              ...container,
              ports: [
                { name: 'http', containerPort: http },
                { name: 'https', containerPort: https },
              ],
              readinessProbe: { httpGet: { path: '/health/readiness', port: 'http' } },
              livenessProbe: { httpGet: { path: '/health/liveness', port: 'http' } },
              resources: { requests: { cpu: '50m', memory: '128Mi' } },
            },
          ],
          ...volumesOf(spec.mounts),
        },
      },
    },
  } satisfies Deployment;
}

function service(metadata: OwnMetadata): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: metadata.labels, ports: [{ name: 'https', port: 443, targetPort: 'https' }] },
  } satisfies Service;
}

/**
 * Argo CD waits for the workload before it applies the configuration; `kubectl apply` follows the order of the file.
 */
const afterWorkloads = { 'argocd.argoproj.io/sync-wave': '1' };

/** The webhook configurations. The function itself writes the `caBundle`. */
export function webhookConfigurations(name: string, admissions: readonly Admission[], site: Installation): Manifest[] {
  const entries = admissions.flatMap((admission) =>
    admission.webhooks.map((webhook) => ({
      kind: configurationKind(admission),
      configuration: webhook.configuration ?? clusterName(name),
      entry: entryOf(name, admission, webhook, site),
    })),
  );
  const objects = Map.groupBy(entries, ({ kind, configuration }) => `${kind} ${configuration}`);
  return [...objects.values()].flatMap((group) =>
    group.slice(0, 1).map(({ kind, configuration }) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: configuration, labels: labelsOf(name, 'webhook'), annotations: afterWorkloads },
      webhooks: group.map(({ entry }) => entry),
    })),
  );
}

function configurationKind({ type }: Admission): string {
  return type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
}

function entryOf(
  name: string,
  { path, type, timeoutSeconds }: Admission,
  webhook: Webhook,
  site: Installation,
): object {
  const { configuration: _configuration, reinvocationPolicy = 'IfNeeded', ...given } = webhook;
  return {
    admissionReviewVersions: ['v1'],
    clientConfig: { service: { name: partName(name, 'webhook'), namespace: site.namespace, path, port: 443 } },
    namespaceSelector: beyondOwnMeans(site),
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds,
    ...given,
    ...(type === 'mutating' ? { reinvocationPolicy } : {}),
  };
}

/** In these namespaces a refusal could prevent the start of the very workload that would end it. */
function beyondOwnMeans({ namespace }: Installation): LabelSelector {
  const values = [namespace, 'knative-eventing', 'knative-serving'];
  return { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }] };
}
