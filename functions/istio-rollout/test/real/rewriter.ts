import type { Pod } from '../../../../lib/kube/model/resource.ts';
import type { AdmissionRequest } from '../../../../lib/kube/model/review.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { wouldInject } from './injection-oracle.ts';
import { startReviewServer, type Answer } from '../../../../test/real/support/review-server.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';
import { marks, type Workload } from '../../../../test/real/support/workloads.ts';

/** The API server asks in the order of names: this is after Istio's. */
const name = 'rewriter.kube-reflex.dev';
const configuration = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

/** Somebody's own webhook: the pods of the workload get this proxy, whatever istiod gave them. */
export async function startRewriter(
  client: Client,
  { workload, image }: { readonly workload: Workload; readonly image: string },
): Promise<{ readonly close: () => void }> {
  const { clientConfig, close } = await startReviewServer((request) => rewritten(request, image));
  const webhook = {
    name,
    clientConfig,
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    objectSelector: { matchLabels: marks(workload) },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const body = { metadata: { name }, webhooks: [webhook] };
  expectCode(201, await client.call('POST', configuration, { body }));
  await waitUntil('it is asked', async () => (await wouldInject(client, workload))?.image === image);
  return { close };
}

function rewritten({ object }: AdmissionRequest, image: string): Answer {
  const proxy = (object as Pod).spec?.containers.findIndex((container) => container.name === 'istio-proxy') ?? -1;
  const operations = proxy < 0 ? [] : [{ op: 'replace', path: `/spec/containers/${proxy}/image`, value: image }];
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
