import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { binary } from '../parts/cluster.ts';

interface Group {
  readonly rules: readonly { readonly alert: string }[];
}

interface Firing {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: number;
  readonly to: number;
}

/** One process as Prometheus sees it, from its first minute until it is gone. */
interface Life {
  readonly from: number;
  readonly until: number;
  /** The interval in minutes, from its first one on. Absent: never. */
  readonly ticksEvery?: number;
  readonly successEvery?: number;
}

const { groups } = (
  parse(readFileSync('deploy/monitoring/rules.yaml', 'utf8')) as { spec: { groups: readonly Group[] } }
).spec;
const hour = 60;
const end = 8 * hour;

function check(rules: object, args: readonly string[] = []): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(binary('check-rules'), args, { input: stringify(rules), encoding: 'utf8' });
}

/** The alerts that a Prometheus which starts then would raise on these series, in minutes since their beginning. */
function firing(series: readonly string[], since = 0): readonly Firing[] {
  const { stdout, stderr } = check({ groups }, [String(since), ...series]);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as readonly Firing[];
}

/** What the processes of a function show of their times; a scrape at the moment of a tick comes before it. */
function seriesOf(name: string, lives: readonly Life[]): string[] {
  return lives.flatMap((life, index) => {
    const labels = `{function="${name}",namespace="kube-reflex",pod="${name}-${index}"}`;
    const { ticksEvery = 0, successEvery = 0 } = life;
    const values = {
      start: () => life.from,
      last_tick: (minute: number) => latest(life, minute, ticksEvery),
      last_success: (minute: number) => latest(life, minute, successEvery),
    };
    return Object.entries(values).map(
      ([what, at]) => `kube_reflex_${what}_timestamp_seconds${labels} ${samples(life, at).join(' ')}`,
    );
  });
}

function latest({ from }: Life, minute: number, every: number): number | undefined {
  return every === 0 || minute === from ? undefined : minute - 1 - ((minute - 1 - from) % every);
}

function samples({ from, until }: Life, at: (minute: number) => number | undefined): string[] {
  return Array.from({ length: end + 1 }, (_, minute) => {
    const value = minute >= from && minute < until ? at(minute) : undefined;
    return value === undefined ? (minute === until ? 'stale' : '_') : String(value * 60);
  });
}

/** A function that sleeps: a process for two minutes each time that something wakes it. */
function wakings(every: number, from: number, until: number, life: Partial<Life>): Life[] {
  const count = Math.ceil((until - from) / every);
  return Array.from({ length: count }, (_, index) => {
    const awake = from + index * every;
    return { from: awake, until: awake + 2, ...life };
  });
}

const well = { ticksEvery: 1, successEvery: 1 };

describe('the alerts on ticks and successes', () => {
  it.each<[string, readonly Life[]]>([
    ['ticks wake a function that sleeps', wakings(5, 0, end, well)],
    ['a function is always there', [{ from: 0, until: end, ...well }]],
    [
      'a process replaces another every hour',
      Array.from({ length: 8 }, (_, index) => ({ from: index * hour, until: (index + 1) * hour, ...well })),
    ],
    [
      'of two processes one gets every tick',
      [
        { from: 0, until: end },
        { from: 0, until: end, ...well },
      ],
    ],
    [
      'the first tick after an installation takes its time',
      [
        { from: 0, until: 25 },
        { from: 25, until: end, ...well },
      ],
    ],
  ])('are silent where %s', (_what, lives) => {
    expect(firing(seriesOf('coredns-sync', lives))).toEqual([]);
  });

  it('are silent where Prometheus was away for hours, until it has seen what sleeps', () => {
    const back = 3 * hour;
    const lives = [...wakings(5, 0, 60, well), ...wakings(5, back + 5, end, well)];

    expect(firing(seriesOf('coredns-sync', lives), back)).toEqual([]);
  });

  it.each<[string, readonly Life[], Readonly<Record<string, readonly [number, number]>>]>([
    [
      'no tick ever came and the function sleeps',
      [{ from: 0, until: 2 }],
      { KubeReflexNoSuccess: [41, 360], KubeReflexNoTicks: [41, 360] },
    ],
    [
      'no tick ever came, while events wake it and are handled',
      wakings(20, 0, end, { successEvery: 1 }),
      { KubeReflexNoTicks: [41, end] },
    ],
    [
      'ticks broke before a process was replaced',
      [
        { from: 0, until: 60, ...well },
        { from: 60, until: end },
      ],
      { KubeReflexNoSuccess: [99, end], KubeReflexNoTicks: [99, end] },
    ],
    [
      'ticks stop and the function sleeps',
      wakings(5, 0, 60, well),
      { KubeReflexNoSuccess: [96, 415], KubeReflexNoTicks: [96, 415] },
    ],
    ['every run fails from the start', [{ from: 0, until: end, ticksEvery: 1 }], { KubeReflexNoSuccess: [41, end] }],
    [
      'every run fails from the start and the function sleeps in between',
      wakings(5, 0, end, { ticksEvery: 1 }),
      { KubeReflexNoSuccess: [41, end] },
    ],
    [
      'a process dies every few minutes before anything reaches it',
      wakings(3, 0, end, {}),
      { KubeReflexNoSuccess: [41, end], KubeReflexNoTicks: [41, end] },
    ],
  ])('fire where %s', (_what, lives, expected) => {
    const labels = { function: 'coredns-sync' };

    expect(firing(seriesOf('coredns-sync', lives))).toEqual(
      Object.entries(expected).map(([alert, [from, to]]) => ({ alert, labels, from, to })),
    );
  });

  it('say nothing of a function without ticks that nothing has to wake', () => {
    const life = { from: 0, until: 30, successEvery: 1 };
    const untimed = seriesOf('on-demand', [life]).filter((series) => series.includes('_last_success_'));

    expect(firing(untimed)).toEqual([]);
  });

  it('distinguish one function from another', () => {
    const fine = seriesOf('istio-rollout', [{ from: 0, until: end, ...well }]);
    const broken = seriesOf('coredns-sync', wakings(20, 0, end, { successEvery: 1 }));

    expect(firing([...fine, ...broken])).toMatchObject([
      { alert: 'KubeReflexNoTicks', labels: { function: 'coredns-sync' } },
    ]);
  });
});

describe('the other alerts', () => {
  const requests = 'kube_reflex_requests_total{function="one",trigger="tick",result=';
  const others = [
    [
      'KubeReflexFailing',
      [`${requests}"ok"} 0+60x60`, `${requests}"unavailable"} 0+1x60`, `${requests}"conflict"} 0+30x60`],
    ],
    ['KubeReflexBug', [`${requests}"ok"} 0+60x60`, `${requests}"bug"} 0x30 1x30`]],
    ['KubeReflexEventsLost', ['kube_reflex_drift_total{function="one"} 0+1x60']],
    ['KubeReflexDeadLetters', ['kube_reflex_dead_letters_total{code="503"} 0x30 1x30']],
    ['KubeReflexBackgroundWorkFails', ['kube_reflex_background_failures_total{function="one",work="loop"} 0+1x60']],
    ['KubeReflexCertificateExpires', [`kube_reflex_one_tls_leaf_expiry_timestamp_seconds{pod="a"} ${7 * 86_400}x120`]],
    ['KubeReflexWebhookNotTrusted', ['kube_reflex_one_cabundle_in_sync{configuration="one"} 0x60']],
  ] as const;
  const healthy = [
    `${requests}"ok"} 0+60x120`,
    `${requests}"unavailable"} 0+1x120`,
    `${requests}"bug"} 0x120`,
    'kube_reflex_drift_total{function="one"} 0+1x2 2x118',
    'kube_reflex_dead_letters_total{code="503"} 0x120',
    'kube_reflex_background_failures_total{function="one",work="loop"} 0x20 1x100',
    `kube_reflex_one_tls_leaf_expiry_timestamp_seconds{pod="a"} ${8 * 86_400}x120`,
    'kube_reflex_one_cabundle_in_sync{configuration="one"} 0x5 1x115',
  ];

  it.each(others)('%s fires alone on what it is there for', (alert, series) => {
    expect(firing(series)).toMatchObject([{ alert }]);
  });

  it('are silent where all is well, little things included', () => {
    expect(firing(healthy)).toEqual([]);
  });

  it('are each shown to fire here', () => {
    const timed = ['KubeReflexNoSuccess', 'KubeReflexNoTicks'];
    const all = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

    expect([...timed, ...others.map(([alert]) => alert)].sort()).toEqual(all.sort());
  });
});

it('has rules that Prometheus understands, their templates included', () => {
  const [group] = groups;
  const broken = { ...group, rules: [{ alert: 'Broken', expr: 'sum by (rate(x[5m])' }] };

  expect(check({ groups })).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(check({ groups: [broken] })).toMatchObject({ status: 1, stderr: expect.stringContaining('Broken') });
});
