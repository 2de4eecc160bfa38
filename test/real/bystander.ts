import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { AdmissionReview } from '../../lib/review/review.ts';
import { createCertificates } from '../../lib/sandbox/requests/certificates.ts';
import type { Client } from '../contract/api/client.ts';
import { expectCode } from '../contract/api/scratch.ts';
import { waitUntil } from './wait.ts';
import { pathOfWorkload, type Workload } from './workloads.ts';

const configuration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const name = 'bystander.kube-reflex.dev';

/**
 * Does something at the very moment when a change of a Deployment by this user is before the API server and has not taken
 * effect: the change meets another object than the one it was made for. That is when the API server asks webhooks.
 */
export async function startBystander(
  client: Client,
  { username, workload }: { readonly username: string; readonly workload: Workload },
  work: () => Promise<unknown>,
): Promise<AsyncDisposable> {
  const { ca, certificate: cert, key } = await createCertificates(new Date());
  let isAsked = false;
  let done: Promise<unknown> | undefined;

  async function answer({ request, ...envelope }: AdmissionReview): Promise<AdmissionReview> {
    isAsked = true;
    if (request?.dryRun !== true && request?.name === workload.name) {
      await (done ??= work());
    }
    return { ...envelope, response: { uid: request?.uid ?? '', allowed: true } };
  }

  const server = createServer({ cert, key }, (request, response) => {
    void request
      .toArray()
      .then((chunks: Buffer[]) => answer(JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview))
      .then((review) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(review)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clientConfig = { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString('base64') };
  expectCode(201, await client.call('POST', configuration, { body: webhookOf(clientConfig, username) }));
  await waitUntil('it is asked', async () => {
    await tryAs(client, username, workload);
    return isAsked;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      expectCode(200, await client.call('DELETE', `${configuration}/${name}`));
      server.closeAllConnections();
      server.close();
    },
  };
}

function webhookOf(clientConfig: object, username: string): object {
  const rule = { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
  const webhook = {
    name,
    clientConfig,
    rules: [rule],
    matchConditions: [{ name: 'user', expression: `request.userInfo.username == '${username}'` }],
    failurePolicy: 'Fail',
    sideEffects: 'NoneOnDryRun',
    admissionReviewVersions: ['v1'],
  };
  return { metadata: { name }, webhooks: [webhook] };
}

/** A change that nothing comes of. */
async function tryAs(client: Client, username: string, workload: Workload): Promise<void> {
  const impersonation = { 'impersonate-user': username, 'impersonate-group': 'system:masters' };
  await client.call('PATCH', pathOfWorkload(workload), {
    body: { metadata: { annotations: { tried: 'yes' } } },
    query: { dryRun: 'All' },
    headers: { ...impersonation, 'content-type': 'application/merge-patch+json' },
  });
}
