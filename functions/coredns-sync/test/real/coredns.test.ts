import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isRefused, parseHost } from '../../host.ts';
import { passesOtherTypes, chooseMode } from '../../render/mode.ts';
import { renderModes, type RenderMode } from '../../render/render.ts';
import type { Rule } from '../../rule.ts';
import { arbitraryRules } from '../../testing/rules.ts';
import { inParallel } from '../../../../lib/base/in-parallel.ts';
import { rootBlock } from './dns/corefile.ts';
import { types, type Type } from './dns/message.ts';
import { expected, type Manner } from './dns/model.ts';
import { rendered, versionOf } from './dns/render.ts';
import { outcome, rule, toIngress, toOther } from './dns/rules.ts';
import { openDnsSite, type CoreDns, type CoreDnsPart, type DnsSite } from './dns/site.ts';
import { other, targets } from './dns/world.ts';

const versions: readonly CoreDnsPart[] = ['coredns', 'coredns-1.12', 'coredns-1.10'];
const asked = Object.keys(types).filter((type): type is Type => type !== 'CNAME' && type !== 'PTR');
const patience = 300_000;

const running = new AsyncDisposableStack();
let site: DnsSite;
beforeAll(async () => {
  site = running.use(await openDnsSite());
}, patience);
afterAll(() => running.disposeAsync());

/** Modes that this version can have; the others give way to templates. */
function modesOf(part: CoreDnsPart): readonly RenderMode[] {
  return renderModes.filter((mode) => modeOn(part, mode) === mode);
}

function modeOn(part: CoreDnsPart, setting: RenderMode): RenderMode {
  const site = { redispatch: false, shards: 1, mounted: true, occupied: [], addressed: true, blocks: true };
  const version = versionOf(part);
  return chooseMode({ setting, version, hosts: 50, wildcards: true, exactMaxHosts: 200, ...site }).mode;
}

describe.each(versions)('%s', (part) => {
  it.each(modesOf(part))(
    'CS-45 starts with rules in %s mode and answers as the model says',
    async (mode) => {
      const sets = fc.sample(arbitraryRules(Object.keys(targets), { minLength: 40, maxLength: 80 }), 2);
      const wrong: unknown[] = [];
      for (const rules of sets) {
        const server = await site.start({ part, corefile: rootBlock, files: rendered(claimed(rules), mode, part) });
        const manner = { mode, passesOtherTypes: passesOtherTypes(versionOf(part)) };
        wrong.push(...(await disagreements(server, rules, manner)));
        await server.stop();
      }

      expect(wrong).toEqual([]);
    },
    patience,
  );

  it.each(modesOf(part))(
    'CS-44 CS-45 starts with every size of rules in %s mode',
    async (mode) => {
      const label = 'x'.repeat(61);
      const longest = Array.from({ length: 200 }, (_, at) =>
        rule(`${label}.${label}.${label}.${'y.'.repeat(30)}z${at}`),
      );
      const many = Array.from({ length: 3000 }, (_, at) => rule(`h${at}.example.com`));
      const outcomes = await Promise.all(
        [[], longest, many].map((rules) =>
          site.tryStart({ part, corefile: rootBlock, files: rendered(rules, mode, part) }),
        ),
      );

      expect(outcomes).toEqual([undefined, undefined, undefined]);
    },
    patience,
  );
});

describe('CS-44 a version that is too old', () => {
  it.each(['coredns-1.12', 'coredns-1.10'] as const)(
    '%s refuses a zone that passes on other names, which is why it gets templates',
    async (part) => {
      const files = rendered([rule('a.example.com')], 'zone', part);

      expect(await site.tryStart({ part, corefile: rootBlock, files })).toContain('exit code 1');
      expect(modeOn(part, 'zone')).toBe('template');
    },
    patience,
  );
});

const targetNames = Object.keys(targets).map((name) => name.slice(0, -1));
const unclaimable = [
  ...[...targetNames, 'kubernetes.default.svc.cluster.local', 'localhost'],
  ...['*.svc.cluster.local', '*.web.svc.cluster.local', '*.local'],
];

/** What the function makes of Ingresses that write these hosts in any case, and beside them names that nobody may have. */
function claimed(rules: readonly Rule[]): readonly Rule[] {
  const policy = { clusterDomain: 'cluster.local', targets: Object.keys(targets), allow: [], exclude: [] };
  const said = [...rules, ...unclaimable.map((name) => rule(name, other))];
  return said.flatMap(({ host, match, target }, at) => {
    const written = at % 2 === 0 ? host : host.replace(/[a-m]/g, (letter) => letter.toUpperCase());
    const text = `${match === 'exact' ? '' : '*.'}${written}.`;
    const parsed = parseHost(text, match === 'exact' ? 'label' : match, { ...policy, minWildcardLabels: 1 });
    return isRefused(parsed) ? [] : [{ ...parsed, target }];
  });
}

/** Asks for each host, its neighbours and names that nobody claims, every type of each. */
async function disagreements(server: CoreDns, rules: readonly Rule[], manner: Manner): Promise<unknown[]> {
  const names = rules.flatMap(({ host }) => [
    ...[host, host.toUpperCase(), `x.${host}`, `X.y.${host}`, `_acme-challenge.${host}`, `a._tcp.${host}`],
    ...[`x${host}`, host.slice(host.indexOf('.') + 1)],
  ]);
  const others = ['unclaimed.test', 'localhost', ...targetNames];
  const questions = [...new Set([...names, ...others])].flatMap((name) => asked.map((type) => ({ name, type })));
  expect(questions.length).toBeGreaterThan(100);
  const wrong: unknown[] = [];
  await inParallel(32, questions, async ({ name, type }) => {
    const [got, want] = [await outcome(server, name, type), expected(rules, manner, name, type)];
    if (got !== want) {
      wrong.push({ name, type, got, want });
    }
  });
  return wrong;
}

describe('wildcards', () => {
  it.each(renderModes)('CS-19 CS-20 CS-24 cover what they say and nothing else, in %s mode', async (mode) => {
    const rules = [rule('*.example.com'), rule('x.example.com', other), rule('*.apps.example.com', other, 'suffix')];
    const server = await site.start({ corefile: rootBlock, files: rendered(rules, mode) });
    const names = [
      'y.example.com',
      'x.example.com',
      'a.b.example.com',
      'example.com',
      'q.apps.example.com',
      'q.r.apps.example.com',
    ];
    const answers = await Promise.all(names.map((name) => outcome(server, name)));
    const challenge = await outcome(server, '_acme-challenge.example.com', 'TXT');
    const { records } = await server.dns.ask('y.example.com');
    await server.stop();

    expect(answers).toEqual([toIngress, toOther, 'world', 'world', toOther, toOther]);
    expect(challenge).toBe('world');
    expect(records[0]?.name).toBe('y.example.com');
  });
});
