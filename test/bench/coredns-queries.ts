import { renderRules, type RenderMode } from '../../functions/coredns-sync/render.ts';
import type { Rule } from '../../functions/coredns-sync/rule.ts';
import { rootBlock } from '../real/dns/corefile.ts';
import { loadDns, type Load } from '../real/dns/load.ts';
import { published } from '../real/dns/publish.ts';
import { key, rendered } from '../real/dns/render.ts';
import { openDnsSite, type CoreDns, type DnsSite, type VolumeFiles } from '../real/dns/site.ts';
import { ingress } from '../real/dns/world.ts';
import { median, ratio, type Bar, type Figure } from './measure/figure.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'questions to a real CoreDNS without a cache, against one `rewrite name exact` line for each host';

/** What the function publishes by itself with its default settings, and what it publishes when told to. */
const manners = ['shipped', 'grouped', 'template', 'hosts', 'zone', 'zoneblocks'] as const;
type Manner = (typeof manners)[number];

/** A load lasts so long: few answers tell enough, since the server's CPU is counted. */
const loadMs = 400;
const rounds = { rounds: 5, warmUp: 1 };

export async function run(): Promise<readonly Figure[]> {
  await using site = await openDnsSite();
  const figures: Figure[] = [];
  for (const hosts of [100, 1000, 10_000]) {
    figures.push(...(await compare(site, hosts)));
  }
  return figures;
}

/** Hits are questions for hosts; misses are for names that no rule knows, as most questions of a cluster are. */
async function compare(site: DnsSite, hosts: number): Promise<readonly Figure[]> {
  const rules = Array.from({ length: hosts }, (_, at): Rule => {
    return { host: `app-${at}.team-${at % 50}.example.com`, match: 'exact', target: ingress };
  });
  const hits = Array.from({ length: 250 }, (_, at) => rules[(at * 7919) % hosts]?.host ?? '');
  const questions = { hits, misses: hits.map((host) => `kubernetes-${host}.svc.cluster.local`) };
  await using servers = new AsyncDisposableStack();

  async function start(files: VolumeFiles): Promise<CoreDns> {
    return servers.adopt(await site.start({ corefile: rootBlock, files }), (server) => server.stop());
  }

  const exact = await start(renderRules(rules, { mode: 'exact', key }));
  const figures: Figure[] = [];
  for (const manner of manners) {
    const server = await start(filesOf(manner, rules));
    for (const [kind, names] of Object.entries(questions)) {
      const loads = await inTurns({ exact: () => load(exact, names), own: () => load(server, names) }, rounds);
      figures.push(...figuresOf(`${manner}, ${kind} at ${hosts} hosts`, loads, barOf(manner, hosts)));
    }
    await server.stop();
  }
  return figures;
}

function filesOf(manner: Manner, rules: readonly Rule[]): VolumeFiles {
  return manner === 'shipped' ? published(rules) : rendered(rules, manner satisfies RenderMode);
}

/** What is published for so many hosts must be far better; nothing may be worse. */
function barOf(manner: Manner, hosts: number): Bar {
  return { atLeast: manner === 'shipped' && hosts === 10_000 ? 20 : 1 };
}

function load({ port, running }: CoreDns, names: readonly string[]): Promise<Load> {
  return loadDns(port, running.pid, names, loadMs);
}

/** CPU decides: the load generator shares the machine, so that a fast server waits for questions. */
function figuresOf(
  what: string,
  { exact, own }: Readonly<Record<'exact' | 'own', readonly Load[]>>,
  bar: Bar,
): readonly Figure[] {
  const cpu = [exact, own].map((loads) => loads.map(({ cpuMicros }) => cpuMicros)) as [number[], number[]];
  const rate = [own, exact].map((loads) => loads.map(({ perSecond }) => perSecond)) as [number[], number[]];
  return [
    { what: `exact / ${what}: CPU of a question`, value: ratio(...cpu), unit: '×', bar, measured: both(cpu, 'µs') },
    {
      what: `${what} / exact: questions per second`,
      value: ratio(...rate),
      unit: '×',
      measured: both(rate, 'per second'),
    },
  ];
}

function both([above, below]: readonly [readonly number[], readonly number[]], unit: string): string {
  return `${median(above).toFixed(0)} / ${median(below).toFixed(0)} ${unit}`;
}
