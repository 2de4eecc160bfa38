import { renderRules, type RenderMode } from '../../functions/coredns-sync/render/render.ts';
import type { Rule } from '../../functions/coredns-sync/rule.ts';
import { rootBlock } from '../../functions/coredns-sync/test/real/dns/corefile.ts';
import { loadDns, type Load } from '../../functions/coredns-sync/test/real/dns/load.ts';
import { published } from '../../functions/coredns-sync/test/real/dns/publish.ts';
import { key, rendered } from '../../functions/coredns-sync/test/real/dns/render.ts';
import {
  openDnsSite,
  type CoreDns,
  type DnsSite,
  type Place,
  type VolumeFiles,
} from '../../functions/coredns-sync/test/real/dns/site.ts';
import { addresses, ingress } from '../../functions/coredns-sync/test/real/dns/world.ts';
import { median, ratio, type Bar, type Figure } from './measure/figure.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'questions to a real CoreDNS without a cache, against one `rewrite name exact` line for each host';

/** What the function publishes by itself with its default settings, and what it publishes on request. */
const manners = ['shipped', 'grouped', 'template', 'hosts', 'zone', 'zoneblocks'] as const;
type Manner = (typeof manners)[number];

/** How long a load lasts: few answers are enough, since the server's CPU is counted. */
const loadMs = 400;
/** `EXACT_MAX_HOSTS` by default. */
const exactMaxHosts = 200;
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
  const misses = hits.map((host) => `kubernetes-${host}.svc.cluster.local`);
  const exact = await site.start({ corefile, files: renderRules(rules, { mode: 'exact', key }) });
  const bare = await site.start({ corefile });
  const figures: Figure[] = [];
  for (const manner of mannersFor(hosts)) {
    const own = await site.start({ corefile, files: filesOf(manner, rules) });
    const loads = await inTurns(
      {
        exactHits: () => load(exact, hits),
        ownHits: () => load(own, hits),
        exactMisses: () => load(exact, misses),
        ownMisses: () => load(own, misses),
        target: () => load(bare, [ingress]),
      },
      rounds,
    );
    await own.stop();
    figures.push(...figuresOf(manner, hosts, loads));
  }
  await exact.stop();
  await bare.stop();
  return figures;
}

/**
 * The names of the cluster come from `template`, which like `kubernetes` is asked before `file`. A `file` that has them, as
 * elsewhere, would share the `fallthrough` of our zone and forward what is not there: no cluster does, since the function
 * makes no zone beside a `file` of somebody else.
 */
function corefile(place: Place): string {
  const answer = `answer "{{ .Question.Name }} 5 IN A ${addresses[ingress][0] ?? ''}"`;
  const target = `match ^${ingress.replaceAll('.', '\\.')}$`;
  const cluster = [
    ...['template IN A cluster.local {', `    ${target}`, `    ${answer}`, '    fallthrough', '}'],
    ...['template ANY ANY cluster.local {', '    rcode NXDOMAIN', '}'],
  ];
  return rootBlock({ ...place, cluster: cluster.join('\n    ') });
}

/** Few hosts are shipped as exact lines: there is nothing to compare. */
function mannersFor(hosts: number): readonly Manner[] {
  return manners.filter((manner) => manner !== 'shipped' || hosts > exactMaxHosts);
}

function filesOf(manner: Manner, rules: readonly Rule[]): VolumeFiles {
  return manner === 'shipped' ? published(rules) : rendered(rules, manner satisfies RenderMode);
}

function load({ port, running }: CoreDns, names: readonly string[]): Promise<Load> {
  return loadDns(port, running.pid, names, loadMs);
}

/** `target`: the question that every hit becomes, asked where there are no rules. A hit costs no less. */
type Loads = Readonly<Record<`${'exact' | 'own'}${'Hits' | 'Misses'}` | 'target', readonly Load[]>>;

/**
 * What is shipped for many hosts must be far better than exact lines, and no mode may be worse, at hits and misses in equal
 * parts: by answers per second, and by CPU, since the load generator shares the machine and bends the rates. Hits alone gain
 * less: a rewritten question has its answer rewritten too, and an answer by CNAME costs one more lookup.
 */
function figuresOf(manner: Manner, hosts: number, loads: Loads): readonly Figure[] {
  const { exactHits, ownHits, exactMisses, ownMisses } = loads;
  const far = manner === 'shipped' && hosts === 10_000;
  const bar = { atLeast: far ? 20 : 1 };
  const what = `${manner} at ${hosts} hosts`;
  return [
    figure(`exact / ${what}, half hits`, [mean(exactHits, exactMisses), mean(ownHits, ownMisses)], bar),
    hits(`exact / ${what}, hits`, loads, far ? { atLeast: 10 } : undefined),
    figure(`exact / ${what}, misses`, [cpuOf(exactMisses), cpuOf(ownMisses)], far ? { atLeast: 20 } : undefined),
    {
      what: `${what} / exact, half hits: questions per second`,
      value: ratio(rateOf(ownHits, ownMisses), rateOf(exactHits, exactMisses)),
      unit: '×',
      bar,
      measured: [rateOf(ownHits, ownMisses), rateOf(exactHits, exactMisses)]
        .map((rate) => median(rate).toFixed())
        .join(' / '),
    },
  ];
}

/** Beside what no rendering can spare: the answer of the target. */
function hits(what: string, { exactHits, ownHits, target }: Loads, bar: Bar | undefined): Figure {
  const { measured, ...rest } = figure(what, [cpuOf(exactHits), cpuOf(ownHits)], bar);
  return { ...rest, measured: `${measured}, the target alone ${median(cpuOf(target)).toFixed(0)} µs` };
}

function cpuOf(loads: readonly Load[]): readonly number[] {
  return loads.map(({ cpuMicros }) => cpuMicros);
}

function mean(left: readonly Load[], right: readonly Load[]): readonly number[] {
  return left.map(({ cpuMicros }, round) => (cpuMicros + (right[round]?.cpuMicros ?? Number.NaN)) / 2);
}

/** Of as many questions of the one as of the other. */
function rateOf(left: readonly Load[], right: readonly Load[]): readonly number[] {
  return left.map(({ perSecond }, round) => 2 / (1 / perSecond + 1 / (right[round]?.perSecond ?? Number.NaN)));
}

function figure(what: string, [above, below]: readonly [readonly number[], readonly number[]], bar?: Bar): Figure {
  return {
    what: `${what}: CPU of a question`,
    value: ratio(above, below),
    unit: '×',
    ...(bar === undefined ? {} : { bar }),
    measured: `${median(above).toFixed(0)} / ${median(below).toFixed(0)} µs`,
  };
}
