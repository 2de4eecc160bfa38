import { injection } from '../sandbox/inject.ts';
import type { Deployment, Pod } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { until as wait } from '../../../lib/source/testing/until.ts';

export const oldImage = 'docker.io/istio/proxyv2:1.28.4';
export const newImage = 'docker.io/istio/proxyv2:1.29.0';
export const restartAnnotation = 'istio-rollout.kube-reflex.dev/restartedAt';

export type Template = NonNullable<Deployment['spec']>['template'];

export interface Shape {
  readonly namespace?: string;
  readonly replicas?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly templateAnnotations?: Readonly<Record<string, string>>;
  readonly containers?: NonNullable<Template['spec']>['containers'];
  readonly spec?: object;
}

/** An answer that gives the pod a proxy with this image. */
export function patchedTo(pod: Pod, image: string): { allowed: true; patchType: string; patch: string } {
  const patch = injection(pod, { revision: 'default', image });
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

/** When a workload was last restarted. */
export function stampOf(object: KubeObject | undefined): string | undefined {
  const { spec } = (object ?? {}) as Deployment;
  return spec?.template.metadata?.annotations?.[restartAnnotation];
}

export function workloadOf(name: string, shape: Shape, isDaemon = false): KubeObject & { readonly spec: object } {
  const {
    namespace = 'shop',
    replicas = 1,
    annotations = {},
    labels = {},
    templateAnnotations = {},
    containers,
    spec = {},
  } = shape;
  return {
    metadata: { name, namespace, annotations: { ...annotations } },
    spec: {
      ...(isDaemon ? {} : { replicas }),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, ...labels }, annotations: { ...templateAnnotations } },
        spec: { containers: containers ?? [{ name: 'web', image: 'web:1' }] },
      },
      ...spec,
    },
  };
}

/** Waits for a condition; fails when it does not come about. */
export function until(what: string, holds: () => boolean): Promise<void> {
  return wait(holds, what);
}
