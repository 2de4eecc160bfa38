import { decide } from '../../functions/node-affinity-mutate/decide.ts';
import type { Knowledge } from '../../functions/node-affinity-mutate/knowledge.ts';
import {
  creating,
  knowing,
  managedLabels,
  podWith,
  preference,
  rulesFrom,
} from '../../functions/node-affinity-mutate/testing/pods.ts';
import { ratio, type Figure } from './measure/figure.ts';
import { inTurns } from './measure/turns.ts';

export const about = 'what node-affinity-mutate adds to the parsing of a review: CPU of the decision, patch included';

/** Parsing cannot be avoided; what is decided from it should not be felt beside it. Ten rules write ten terms. */
const bars: Readonly<Record<string, number>> = { 'settings only': 0.25, '10 rules': 1 };
const repeats = 2_000;

export async function run(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [pod, object] of Object.entries(pods())) {
    for (const [rules, knowledge] of Object.entries(knowledges())) {
      const figure = await compare(`${pod}, ${rules}`, object, knowledge);
      figures.push({ ...figure, bar: { atMost: bars[rules] ?? 0 } });
    }
  }
  return figures;
}

async function compare(what: string, object: object, knowledge: Knowledge): Promise<Figure> {
  const text = JSON.stringify({ request: creating(object) });
  const { request } = JSON.parse(text) as { request: object };
  const times = await inTurns(
    {
      parsing: () => cpuOf(() => JSON.parse(text) as unknown),
      deciding: () => cpuOf(() => JSON.stringify(decide(request, knowledge).patch)),
    },
    { rounds: 15, warmUp: 3 },
  );
  const [parsing = 0, deciding = 0] = [times.parsing, times.deciding].map((values) => Math.min(...values));
  const measured = `${deciding.toFixed(1)} µs beside ${parsing.toFixed(1)} µs for ${(text.length / 1024).toFixed(1)} KB`;
  return { what: `decision of a ${what}`, value: ratio(times.deciding, times.parsing), unit: '×', measured };
}

/** Microseconds of CPU for one of many. */
function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < repeats; index += 1) {
    work();
  }
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve((user + system) / repeats);
}

function pods(): Readonly<Record<string, object>> {
  const rich = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: 10 }, (_item, index) =>
          preference(index + 1, { key: `zone-${index}`, operator: 'In', values: ['a', 'b', 'c'] }),
        ),
      },
    },
  };
  return {
    'bare 5 KB pod': podWith({ containers: containers(4) }),
    'rich 5 KB pod': podWith({ containers: containers(3), ...rich }),
    'bare 20 KB pod': podWith({ containers: containers(18) }),
    'rich 20 KB pod': podWith({ containers: containers(17), ...rich }),
  };
}

/** About 1 KB each. */
function containers(count: number): object[] {
  return Array.from({ length: count }, (_item, index) => ({
    name: `container-${index}`,
    image: 'registry.example.com/team/application:1.2.3',
    env: Array.from({ length: 16 }, (_entry, entry) => ({
      name: `VARIABLE_${entry}`,
      value: `value-${entry}-of-many`,
    })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  }));
}

function knowledges(): Readonly<Record<string, Knowledge>> {
  const rules = Array.from({ length: 10 }, (_item, index) => ({
    name: `rule-${index}`,
    match: {
      namespaces: ['team-*', 'shop'],
      podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] },
    },
    pool: { key: 'tier', values: [`tier-${index}`] },
  }));
  return {
    'settings only': knowing({ namespaces: new Map([['shop', { labels: managedLabels }]]) }),
    '10 rules': knowing({ rules: rulesFrom(rules) }),
  };
}
