import { annotationOf } from '../../state/annotation.ts';
import type { RenderMode } from '../../render/render.ts';
import type { Body, Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode, uniqueName } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { openWatch } from '../../../../lib/sandbox/test/contract/watching.ts';
import { rulesName } from '../world.ts';
import type { Recorded } from './dns/recording/render.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

/** What somebody sees who does nothing but watch the rules. */
export interface Followed extends AsyncDisposable {
  /** The lines of all rules now, sorted. */
  readonly lines: () => Promise<readonly string[]>;
  /** Of these hosts, those that were missing at any moment. */
  readonly missed: (hosts: readonly string[]) => readonly string[];
  /** Every rendering that was there at any moment, once. */
  readonly texts: () => Promise<readonly Recorded[]>;
  /** How many moments there were. */
  readonly states: () => number;
  /** Resolves when everything that was written before was seen. */
  readonly caughtUp: () => Promise<void>;
}

const collection = '/api/v1/namespaces/kube-system/configmaps';

/** One watch shows all ConfigMaps in the order in which they were written, so that each of its events is a moment. */
export async function followRules(client: Client): Promise<Followed> {
  const { items = [], metadata } = expectCode(200, await client.call('GET', collection));
  const shards = new Map(items.filter(isRules).map((item) => [nameOf(item), linesOf(item)]));
  const moments: ReadonlySet<string>[] = [hostsIn(shards)];
  const texts = new Map(items.flatMap(textOf));
  const seen = new Set<string>();
  const timeoutSeconds = 14_400; // the server would end it after half an hour, and a long run would miss the rest
  const watch = await openWatch(client, collection, {
    resourceVersion: metadata?.resourceVersion ?? '',
    timeoutSeconds,
  });

  async function follow(): Promise<void> {
    for (let event = await watch.change(); event !== undefined; event = await watch.change()) {
      seen.add(nameOf(event.object));
      if (isRules(event.object)) {
        shards.set(nameOf(event.object), event.type === 'DELETED' ? [] : linesOf(event.object));
        moments.push(hostsIn(shards));
        textOf(event.object).forEach(([digest, text]) => texts.set(digest, text));
      }
    }
  }

  async function caughtUp(): Promise<void> {
    const name = uniqueName('marker');
    expectCode(201, await client.call('POST', collection, { body: { metadata: { name } } }));
    await waitUntil('the watch has caught up', () => seen.has(name));
    expectCode(200, await client.call('DELETE', `${collection}/${name}`));
  }

  void follow();
  return {
    caughtUp,
    lines: async () => {
      await caughtUp();
      return [...shards.values()].flat().sort();
    },
    missed: (hosts) => hosts.filter((host) => moments.some((moment) => !moment.has(host))),
    texts: async () => {
      await caughtUp();
      return [...texts.values()];
    },
    states: () => moments.length,
    [Symbol.asyncDispose]: () => {
      watch.close();
      return Promise.resolve();
    },
  };
}

function nameOf({ metadata }: Body): string {
  return metadata?.name ?? '';
}

function isRules(object: Body): boolean {
  return nameOf(object).startsWith(rulesName);
}

function linesOf({ data = {} }: Body): readonly string[] {
  return Object.entries(data)
    .filter(([key]) => key.endsWith('.server'))
    .flatMap(([, text]) => text.split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** What CoreDNS would see of the ConfigMap, and a name for it. */
function textOf(object: Body): readonly (readonly [string, Recorded])[] {
  const files = Object.fromEntries(Object.entries(object.data ?? {}).filter(([key]) => !key.endsWith('.claims')));
  const key = Object.keys(files).find((name) => name.endsWith('.server'));
  const mode = annotationOf(object, 'render-mode') as RenderMode | undefined;
  if (!isRules(object) || key === undefined || mode === undefined) {
    return [];
  }
  return [[JSON.stringify(files), { mode, key, files, directory: undefined }]];
}

function hostsIn(shards: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  return new Set([...shards.values()].flat().map((line) => line.split(' ')[3] ?? ''));
}
