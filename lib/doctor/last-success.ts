import { pods } from '../kube/resource.ts';
import { labelsOf } from '../manifests/manifest.ts';
import type { Found } from './finding.ts';
import { orUnknown, type Patient } from './look.ts';

/** Asks a pod of the function through the API server, as a laptop has no way to it. */
export async function checkLastSuccess(name: string, { kube, transport, namespace, now }: Patient): Promise<Found[]> {
  const check = 'last success';
  const labels = labelsOf(name, 'events');
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return orUnknown(check, async () => {
    const { items } = await kube.list(pods, { namespace, labelSelector, fieldSelector: 'status.phase=Running' });
    const [pod] = items;
    if (pod === undefined) {
      return [
        { check, state: 'unknown', message: 'no pod runs at the moment; Knative starts one with the next event' },
      ];
    }
    const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata?.name ?? ''}:8080/proxy/metrics`;
    const { status, body } = await transport.send({ method: 'GET', path, accept: 'text/plain' });
    const seconds = /^kube_reflex_last_success_timestamp_seconds\{[^}]*\} (\S+)$/m.exec(body)?.[1];
    if (status !== 200 || seconds === undefined) {
      return [{ check, state: 'unknown', message: `its metrics could not be read (${status})` }];
    }
    const minutes = Math.round((now.getTime() / 1000 - Number(seconds)) / 60);
    return [
      minutes <= 15
        ? { check, state: 'ok', message: `${minutes} minutes ago` }
        : { check, state: 'error', message: `${minutes} minutes ago`, fix: 'ticks do not arrive or fail; see its log' },
    ];
  });
}
