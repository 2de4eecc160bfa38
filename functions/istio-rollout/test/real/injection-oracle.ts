import type { Pod } from '../../../../lib/kube/model/resource.ts';
import { inParallel } from '../../../../lib/base/in-parallel.ts';
import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { identify, livePods, marks, podOf, type Workload } from '../../../../test/real/support/workloads.ts';

const askedAtOnce = 8;

/** What people see of a proxy in a pod. */
export interface Injected {
  readonly image: string;
  /** Absent in a pod that brought its own proxy and was not injected. */
  readonly revision: string | undefined;
}

/**
 * The workloads that a restart would give another proxy: what the API server and the real injectors make of each template
 * now, compared with the live pods. It knows nothing of selectors, tags or templates; it asks.
 */
export async function outdatedOf(client: Client, workloads: readonly Workload[]): Promise<ReadonlySet<string>> {
  const pods = await livePods(client);
  const outdated = await inParallel(askedAtOnce, workloads, async (workload) => {
    const expected = await wouldInject(client, workload);
    const mine = pods.filter(({ metadata }) => isOf(workload, metadata));
    return expected !== undefined && mine.some((pod) => differs(expected, injectedInto(pod)));
  });
  return new Set(workloads.filter((_, index) => outdated[index]).map(identify));
}

/** What a pod of this workload would get now; `undefined` when it would get no proxy. */
export async function wouldInject(client: Client, workload: Workload): Promise<Injected | undefined> {
  const path = `/api/v1/namespaces/${workload.namespace}/pods`;
  const made = await client.call('POST', path, { query: { dryRun: 'All' }, body: podOf(workload) });
  return injectedInto(expectCode(201, made) as Pod);
}

export function injectedInto({ metadata, spec }: Pod): Injected | undefined {
  const { containers = [], initContainers = [] } = spec ?? {};
  const proxy = [...containers, ...initContainers].find(({ name }) => name === 'istio-proxy');
  if (proxy?.image === undefined || proxy.image === 'auto') {
    return undefined;
  }
  const status = metadata?.annotations?.['sidecar.istio.io/status'] ?? '{}';
  const { revision } = JSON.parse(status) as { readonly revision?: string };
  return { image: proxy.image, revision };
}

function differs(expected: Injected, live: Injected | undefined): boolean {
  const revisions = [live?.revision, expected.revision].filter((revision) => revision !== undefined);
  return live?.image !== expected.image || new Set(revisions).size > 1;
}

function isOf(workload: Workload, metadata: Pod['metadata']): boolean {
  const wanted = Object.entries(marks(workload));
  return (
    metadata?.namespace === workload.namespace && wanted.every(([label, value]) => metadata.labels?.[label] === value)
  );
}
