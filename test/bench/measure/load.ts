import http from 'node:http';
import { binaryEvent, send, type Sent } from '../../support/http.ts';

/** An event that makes the census read the cluster. */
export const ingressEvent: Sent = binaryEvent({
  type: 'dev.knative.apiserver.ref.update',
  kind: 'Ingress',
  apiVersion: 'networking.k8s.io/v1',
  namespace: 'default',
  name: 'shop',
  data: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop', namespace: 'default' },
});

/** An event that no function asked for: what the surface alone costs. */
export const foreignEvent: Sent = binaryEvent({ type: 'com.example.unrelated', data: { hello: 'world' } });

/** Sends one request and insists on its status. */
export async function expectStatus(url: URL, sent: Sent, status: number): Promise<void> {
  const answer = await send(url, sent);
  if (answer.status !== status) {
    throw new Error(`${url.href} answered ${answer.status} ${answer.body}`);
  }
}

/** Sends the same event so many times over kept connections, each waiting for its answer. */
export async function flood(url: URL, sent: Sent, { events = 1_000, connections = 8 } = {}): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  let left = events;
  async function sender(): Promise<void> {
    while (left > 0) {
      left -= 1;
      await expectStatus(url, { ...sent, agent }, 204);
    }
  }
  await Promise.all(Array.from({ length: connections }, sender));
  agent.destroy();
}
