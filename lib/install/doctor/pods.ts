import { conditionsOf } from '../../function/conditions.ts';
import type { Definition } from '../../function/definition.ts';
import { deployments, pods } from '../../kube/model/resource.ts';
import { knative, type Platform } from '../manifests/function-manifests.ts';
import { openfaas } from '../manifests/openfaas.ts';
import { source } from '../manifests/plain.ts';
import { labelsOf } from '../../function/names.ts';
import { standardScaling } from '../../function/scaling.ts';
import { conditionsIn } from '../../runtime/doctor/conditions.ts';
import type { Found } from '../../runtime/doctor/finding.ts';
import { orFailure, type Patient } from '../../runtime/doctor/look.ts';
import { examinePulse, vitalsOf, type Vitals } from '../../runtime/doctor/pulse.ts';

/** Asks every pod of the function through the API server, as a laptop has no other way to it. */
export async function checkPulse(
  definition: Pick<Definition, 'name' | 'tick' | 'scaling' | 'conditions'>,
  patient: Patient,
  platform: Platform,
): Promise<Found[]> {
  const { kube, transport, namespace, now } = patient;
  const { name, tick, scaling } = definition;
  const check = 'last success';
  const standing: Found[] = [];
  // A pod that is gone by now may have got the last ones.
  const { maxScale: sharing } = { ...standardScaling, ...scaling };
  const labelSelector = Object.entries(labelsOf(name, 'events'))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

  /** A pod that hangs must not hide what there is to say about all the others. */
  async function askPod(pod: string): Promise<Vitals | Found> {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/metrics`;
    const look = `kubectl -n ${namespace} logs ${pod}`;
    try {
      const { status, body } = await transport.send({ method: 'GET', path, accept: 'text/plain' });
      const vitals = status === 200 ? vitalsOf(body, { name, who: `pod ${pod}` }) : undefined;
      standing.push(...conditionsIn(body, name, conditionsOf(definition)));
      const message = `the metrics of pod ${pod} could not be read (${status})`;
      const fix = status === 403 ? 'look as somebody who may get pods/proxy' : look;
      return vitals ?? { check, state: 'unknown', message, fix };
    } catch (error) {
      const message = `pod ${pod} does not answer: ${(error as Error).message}`;
      return { check, state: 'error', message, fix: `${look}; or something keeps the API server from it` };
    }
  }

  return orFailure(check, async () => {
    const { items } = await kube.list(pods, { namespace, labelSelector, fieldSelector: 'status.phase=Running' });
    if (items.length === 0) {
      return [{ check, ...(await whyNoPod(name, patient, platform)) }];
    }
    const told = await Promise.all(items.map(({ metadata }) => askPod(metadata?.name ?? '')));
    const processes = told.filter((each) => 'who' in each);
    const partial = processes.length < told.length;
    const pulse = { schedule: tick?.schedule, now, sharing, partial, ticker: tickerOf(platform, namespace) };
    return [
      ...new Map(standing.map((each) => [each.check, each])).values(),
      ...told.filter((each) => 'check' in each),
      ...(processes.length === 0 ? [] : examinePulse(processes, pulse)),
    ];
  });
}

/** Knative and OpenFaaS start pods when they need them; a Deployment always has those that it asks for. */
async function whyNoPod(
  name: string,
  { kube, namespace }: Patient,
  platform: Platform,
): Promise<Pick<Found, 'state' | 'message' | 'fix'>> {
  if (platform === knative) {
    return { state: 'unknown', message: 'no pod runs at the moment; Knative starts one with the next event or tick' };
  }
  if (platform === openfaas) {
    const message =
      'no pod runs at the moment; the gateway of OpenFaaS starts one with the next event if it scales from 0';
    return { state: 'unknown', message };
  }
  const { spec } = (await kube.get(deployments, { name, namespace })) ?? {};
  return spec?.replicas === 0
    ? {
        state: 'error',
        message: 'no pod runs: its Deployment is scaled to 0, so nothing handles events and ticks',
        fix: `kubectl -n ${namespace} scale deployment ${name} --replicas=1`,
      }
    : {
        state: 'unknown',
        message: 'no pod of its Deployment runs',
        fix: `kubectl -n ${namespace} describe deployment ${name} shows why`,
      };
}

/** What to look at where ticks do not come. */
function tickerOf(platform: Platform, namespace: string): string {
  if (platform === knative) {
    return 'the PingSource and its Trigger';
  }
  return platform === openfaas
    ? 'the cron connector of OpenFaaS'
    : `the log of the event source: kubectl -n ${namespace} logs deployment/${source}`;
}
