import type { Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { openWatch } from '../../../../lib/sandbox/test/contract/watching.ts';
import { identityOf, isComplete, type Listed } from '../../../../test/real/support/workloads.ts';

/** What somebody sees who does nothing but watch Deployments. */
export interface Observer {
  /** Most rollouts that were under way at one moment. */
  readonly peak: () => number;
  /** The same, in the one namespace where there were most. */
  readonly peakInNamespace: () => number;
  /** Changes of the spec that were seen, by workload. */
  readonly restarts: () => ReadonlyMap<string, number>;
  readonly underWay: () => readonly string[];
  readonly close: () => void;
}

const collection = '/apis/apps/v1/deployments';

/** Sees every change from now on: a watch loses none. */
export async function observeDeployments(client: Client): Promise<Observer> {
  const { items = [], metadata } = expectCode(200, await client.call('GET', collection));
  const current = new Map(items.map((item) => keyed(item as Listed)));
  const before = new Map([...current].map(([identity, { metadata: known }]) => [identity, known?.generation ?? 0]));
  const watch = await openWatch(client, collection, { resourceVersion: metadata?.resourceVersion ?? '' });
  let peak = 0;
  let peakInNamespace = 0;

  function underWay(): Listed[] {
    return [...current.values()].filter((workload) => !isComplete(workload));
  }

  function look(): void {
    const moving = underWay();
    const perNamespace = Map.groupBy(moving, (workload) => workload.metadata?.namespace);
    peak = Math.max(peak, moving.length);
    peakInNamespace = Math.max(peakInNamespace, ...[...perNamespace.values()].map(({ length }) => length));
  }

  async function follow(): Promise<void> {
    for (let event = await watch.change(); event !== undefined; event = await watch.change()) {
      const [identity, workload] = keyed(event.object as Listed);
      current.set(identity, workload);
      look();
    }
  }

  void follow();
  return {
    peak: () => peak,
    peakInNamespace: () => peakInNamespace,
    restarts: () =>
      new Map(
        [...current].map(([identity, now]) => [
          identity,
          (now.metadata?.generation ?? 0) - (before.get(identity) ?? 0),
        ]),
      ),
    underWay: () => underWay().map(identityOf),
    close: () => watch.close(),
  };
}

function keyed(item: Listed): [string, Listed] {
  const workload = { ...item, kind: 'Deployment' };
  return [identityOf(workload), workload];
}
