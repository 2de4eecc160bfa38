import { type Scaling, standardScaling } from '../../function/scaling.ts';
import { containerOf, standardPorts, volumesOf, type Told } from './container.ts';
import { labelsOf } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';

/**
 * The Knative Service that handles events and ticks. It avoids every field that Knative keeps behind a feature flag, and
 * says of its container what Knative would fill in: a list that comes back with more is a difference to GitOps tools.
 */
export function knativeService(told: Omit<Told, 'role'>, scaling: Scaling | undefined, site: Installation): Manifest {
  const { minScale, maxScale, cpu, memory } = { ...standardScaling, ...scaling };
  const labels = labelsOf(told.name, 'events');
  const { http: port } = standardPorts();
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: {
      name: told.name,
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
          serviceAccountName: told.name,
          enableServiceLinks: false,
          containerConcurrency: 100,
          timeoutSeconds: 120,
          containers: [
            {
              ...containerOf({ ...told, role: 'events', scaling }, site),
              ports: [{ containerPort: port, protocol: 'TCP' }],
              // Without a period Knative probes every 50 ms; with one a cold start waits for the kubelet's seconds.
              readinessProbe: { httpGet: { path: '/health/readiness', port }, successThreshold: 1 },
              livenessProbe: { httpGet: { path: '/health/liveness', port } },
              resources: { requests: { cpu, memory } },
            },
          ],
          ...volumesOf(told.mounts),
        },
      },
    },
  };
}
