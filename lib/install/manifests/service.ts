import { type Scaling, standardScaling } from '../../function/scaling.ts';
import { containerOf, standardPorts, volumesOf, type ContainerSpec } from './container.ts';
import { labelsOf } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';

/**
 * The Knative Service of the events role. It avoids all fields that Knative keeps behind a feature flag, and sets those
 * that Knative would default, because GitOps tools report a list with added fields as a difference.
 */
export function knativeService(
  spec: Omit<ContainerSpec, 'role'>,
  scaling: Scaling | undefined,
  site: Installation,
): Manifest {
  const { minScale, maxScale, cpu, memory } = { ...standardScaling, ...scaling };
  const labels = labelsOf(spec.name, 'events');
  const { http: port } = standardPorts();
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: {
      name: spec.name,
      namespace: site.namespace,
      labels: { ...labels, 'networking.knative.dev/visibility': 'cluster-local' },
    },
    spec: {
      template: {
        metadata: {
          labels,
          annotations: {
            'autoscaling.knative.dev/min-scale': String(minScale),
            'autoscaling.knative.dev/max-scale': String(maxScale),
          },
        },
        spec: {
          serviceAccountName: spec.name,
          enableServiceLinks: false,
          containerConcurrency: 100,
          timeoutSeconds: 120,
          containers: [
            {
              ...containerOf({ ...spec, role: 'events', scaling }, site),
              ports: [{ containerPort: port, protocol: 'TCP' }],
              // Without a period Knative probes every 50 ms; with one, a cold start waits for the kubelet's interval of
              // seconds.
              readinessProbe: { httpGet: { path: '/health/readiness', port }, successThreshold: 1 },
              livenessProbe: { httpGet: { path: '/health/liveness', port } },
              resources: { requests: { cpu, memory } },
            },
          ],
          ...volumesOf(spec.mounts),
        },
      },
    },
  };
}
