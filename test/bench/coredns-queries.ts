import { renderRules, type RenderMode } from '../../functions/coredns-sync/render.ts';
import type { Rule } from '../../functions/coredns-sync/rule.ts';
import { rootBlock } from '../real/dns/corefile.ts';
import { loadDns, type Load } from '../real/dns/load.ts';
import { openDnsSite, type CoreDns, type DnsSite } from '../real/dns/site.ts';
import { ingress } from '../real/dns/world.ts';
import { median, ratio, type Bar, type Figure } from './measure/figure.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'questions to a real CoreDNS without a cache, against one `rewrite name exact` line for each host';

const key = 'dynamic.server';
const modes: readonly RenderMode[] = ['exact', 'grouped', 'template'];
/** A load lasts so long: few answers tell enough, since the server's CPU is counted. */
const loadMs = 400;

export async function run(): Promise<readonly Figure[]> {
  await using site = await openDnsSite();
  const figures: Figure[] = [];
  for (const hosts of [100, 1000, 10_000]) {
    figures.push(...(await compare(site, hosts)));
  }
  return figures;
}

/** Half of the questions are for hosts, half for names that no rule knows, as most questions of a cluster are. */
async function compare(site: DnsSite, hosts: number): Promise<readonly Figure[]> {
  const rules = Array.from({ length: hosts }, (_, at): Rule => {
    return { host: `app-${at}.team-${at % 50}.example.com`, match: 'exact', target: ingress };
  });
  const names = Array.from({ length: 250 }, (_, at) => rules[(at * 7919) % hosts]?.host ?? '').flatMap((host) => [
    host,
    `kubernetes-${host}.svc.cluster.local`,
  ]);
  const servers = await Promise.all(
    modes.map(async (mode) => {
      return [mode, await site.start({ corefile: rootBlock, files: renderRules(rules, { mode, key }) })] as const;
    }),
  );
  const loads = await inTurns(
    Object.fromEntries(servers.map(([mode, server]) => [mode, () => load(server, names)])) as Record<
      RenderMode,
      () => Promise<Load>
    >,
    { rounds: 5, warmUp: 1 },
  );
  await Promise.all(servers.map(([, server]) => server.stop()));
  return (['grouped', 'template'] as const).flatMap((mode) => [
    figure(
      `exact / ${mode}, CPU of a question at ${hosts} hosts`,
      [loads.exact, loads[mode]],
      'cpuMicros',
      barOf(mode, hosts),
    ),
    figure(`${mode} / exact, questions per second at ${hosts} hosts`, [loads[mode], loads.exact], 'perSecond'),
  ]);
}

/** The rendering that is chosen for so many hosts must be far better; none may be worse. */
function barOf(mode: RenderMode, hosts: number): Bar {
  return { atLeast: mode === 'grouped' && hosts === 10_000 ? 20 : 1 };
}

function load({ port, running }: CoreDns, names: readonly string[]): Promise<Load> {
  return loadDns(port, running.pid, names, loadMs);
}

function figure(
  what: string,
  [above, below]: readonly [readonly Load[], readonly Load[]],
  value: 'cpuMicros' | 'perSecond',
  bar?: Bar,
): Figure {
  const [own, base] = [above, below].map((loads) => loads.map((each) => each[value])) as [number[], number[]];
  return {
    what,
    value: ratio(own, base),
    unit: '×',
    ...(bar === undefined ? {} : { bar }),
    measured: `${median(own).toFixed(0)} / ${median(base).toFixed(0)} ${value === 'cpuMicros' ? 'µs' : 'per second'}`,
  };
}
