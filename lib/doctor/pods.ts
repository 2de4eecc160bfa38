import { pods } from '../kube/resource.ts';
import { labelsOf } from '../manifests/manifest.ts';
import type { Found } from './finding.ts';
import { orUnknown, type Patient } from './look.ts';
import { examinePulse } from './pulse.ts';

/** Asks a pod of the function through the API server, as a laptop has no way to it. */
export async function checkPulse(
  { name, ticks }: { readonly name: string; readonly ticks: boolean },
  { kube, transport, namespace, now }: Patient,
): Promise<Found[]> {
  const check = 'last success';
  const labelSelector = Object.entries(labelsOf(name, 'events'))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return orUnknown(check, async () => {
    const { items } = await kube.list(pods, { namespace, labelSelector, fieldSelector: 'status.phase=Running' });
    const [pod] = items;
    if (pod === undefined) {
      const message = 'no pod runs at the moment; Knative starts one with the next event';
      return [{ check, state: 'unknown', message }];
    }
    const path = `/api/v1/namespaces/${namespace}/pods/${pod.metadata?.name ?? ''}:8080/proxy/metrics`;
    const { status, body } = await transport.send({ method: 'GET', path, accept: 'text/plain' });
    return status === 200
      ? examinePulse(body, { function: name, ticks, now })
      : [{ check, state: 'unknown', message: `its metrics could not be read (${status})` }];
  });
}
