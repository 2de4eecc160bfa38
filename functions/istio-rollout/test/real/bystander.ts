import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { startReviewServer } from '../../../../test/real/support/review-server.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { pathOfWorkload, type Workload } from '../../../../test/real/support/workloads.ts';

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
  let isAsked = false;
  let done: Promise<unknown> | undefined;
  const { clientConfig, close } = await startReviewServer(async ({ dryRun, name: asked }) => {
    isAsked = true;
    if (dryRun !== true && asked === workload.name) {
      await (done ??= work());
    }
    return { allowed: true };
  });
  expectCode(201, await client.call('POST', configuration, { body: webhookOf(clientConfig, username) }));
  await waitUntil('it is asked', async () => {
    await tryAs(client, username, workload);
    return isAsked;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      expectCode(200, await client.call('DELETE', `${configuration}/${name}`));
      close();
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
