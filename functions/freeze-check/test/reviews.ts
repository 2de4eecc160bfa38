import https from 'node:https';
import type { AdmissionRequest, AdmissionResponse } from '../../../lib/kube/model/review.ts';
import { reviewOf } from '../../../lib/kube/model/review.ts';
import type { Deployment } from '../../../lib/kube/model/resource.ts';
import { createCertificates, type Certificates } from '../../../lib/sandbox/http/certificates.ts';
import { send } from '../../../test/support/http.ts';
import type { Replica, ReplicaOptions, World } from './world.ts';

/** A replica that answers reviews, and how to ask it. */
export interface Gate extends Replica {
  readonly ask: (request: Partial<AdmissionRequest>, path?: string) => Promise<AdmissionResponse>;
  readonly metrics: () => Promise<string>;
}

const workloads = '/validate-freeze-operator-io-v1alpha1-workloads';

let certificates: Promise<Certificates> | undefined;

/** Opens a replica of the world that listens for reviews. Policies are read for each review unless told otherwise. */
export async function openGate(world: World, options: ReplicaOptions = {}): Promise<Gate> {
  certificates ??= createCertificates(new Date());
  const { certificate: cert, key, ca } = await certificates;
  const environment = { POLICY_MAX_AGE: '0s', ...options.environment };
  const replica = await world.replica({ name: 'gate', ...options, environment, tls: { cert, key } });
  const agent = new https.Agent({ ca, keepAlive: true });

  async function ask(request: Partial<AdmissionRequest>, path = workloads): Promise<AdmissionResponse> {
    const { tlsUrl } = replica.app;
    if (tlsUrl === undefined) {
      throw new Error('the replica does not listen for reviews');
    }
    const body = JSON.stringify(reviewOf({ ...asked, ...request }));
    const answer = await send(tlsUrl, { path, headers: { 'content-type': 'application/json' }, body, agent });
    const { response } = JSON.parse(answer.body) as { readonly response?: AdmissionResponse };
    if (answer.status !== 200 || response?.uid !== asked.uid) {
      throw new Error(`HTTP ${answer.status}: ${answer.body}`);
    }
    return response;
  }

  return {
    ...replica,
    ask,
    metrics: async () => (await send(replica.app.url, { method: 'GET', path: '/metrics' })).body,
    close: async () => {
      agent.destroy();
      await replica.close();
    },
  };
}

const asked: AdmissionRequest = {
  uid: '7f1a',
  kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
  namespace: 'prod',
  name: 'web',
  operation: 'CREATE',
  userInfo: { username: 'dev@x', groups: ['system:authenticated'] },
  object: null,
  oldObject: null,
  options: null,
};

interface Traits {
  readonly image?: string;
  readonly replicas?: number;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

/** A Deployment as reviews carry it. */
export function deployment({
  image = 'web:1',
  replicas = 1,
  labels = { app: 'web' },
  annotations = {},
}: Traits = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'prod', uid: 'd-1', labels, annotations },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}

export function creation(traits: Traits = {}): Partial<AdmissionRequest> {
  return { operation: 'CREATE', object: deployment(traits) };
}

export function deletion(traits: Traits = {}): Partial<AdmissionRequest> {
  return { operation: 'DELETE', oldObject: deployment(traits) };
}

/** From a Deployment as it is by default to one with other traits. */
export function update(after: Traits, before: Traits = {}): Partial<AdmissionRequest> {
  return { operation: 'UPDATE', object: deployment(after), oldObject: deployment(before) };
}

export const rollout: Partial<AdmissionRequest> = update({ image: 'web:2' });

/** What an API server sends when something is scaled: no labels, and a kind of its own. */
export const scale: Partial<AdmissionRequest> = {
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  subResource: 'scale',
  operation: 'UPDATE',
  object: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web', namespace: 'prod' } },
  oldObject: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web', namespace: 'prod' } },
};
