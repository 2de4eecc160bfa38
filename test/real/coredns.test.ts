import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkConfiguration } from '../../functions/coredns-sync/check.ts';
import { parseCorefile } from '../../functions/coredns-sync/corefile/parse.ts';
import { judgeReload, parseReload } from '../../functions/coredns-sync/reload.ts';
import { passesOtherTypes, chooseMode } from '../../functions/coredns-sync/render-mode.ts';
import { renderModes, renderRules, shardKey, type RenderMode } from '../../functions/coredns-sync/render.ts';
import type { Match, Rule } from '../../functions/coredns-sync/rule.ts';
import { arbitraryRules } from '../../functions/coredns-sync/testing/rules.ts';
import { inParallel } from '../../lib/work/in-parallel.ts';
import { rootBlock, withImport } from './dns/corefile.ts';
import { followAnswers } from './dns/follow.ts';
import { types, type Type } from './dns/message.ts';
import { expected, observed, type Manner } from './dns/model.ts';
import { key, rendered, versionOf } from './dns/render.ts';
import { openDnsSite, type CoreDns, type CoreDnsPart, type DnsSite, type Place, type VolumeFiles } from './dns/site.ts';
import { ingress, other, targets } from './dns/world.ts';
import { waitUntil } from './wait.ts';

const versions: readonly CoreDnsPart[] = ['coredns', 'coredns-1.12', 'coredns-1.10'];
const asked = Object.keys(types).filter((type): type is Type => type !== 'CNAME' && type !== 'PTR');
const patience = 120_000;
const toIngress = `target ${targets[ingress].A}`;
const toOther = `target ${targets[other].A}`;

const running = new AsyncDisposableStack();
let site: DnsSite;
beforeAll(async () => {
  site = running.use(await openDnsSite());
}, patience);
afterAll(() => running.disposeAsync());

function rule(text: string, target: string = ingress, match: Match = text.startsWith('*.') ? 'label' : 'exact'): Rule {
  return { host: text.replace(/^\*\./, ''), match, target };
}

/** What `rendered` gives where the place does not matter. */
function files(rules: readonly Rule[], mode: 'exact' | 'grouped' | 'template'): Record<string, string> {
  return { ...renderRules(rules, { mode, key }) };
}

async function outcome({ dns }: CoreDns, name: string, type: Type = 'A'): Promise<string> {
  return observed(await dns.ask(name, type), name, type);
}

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
      const sets = fc.sample(arbitraryRules(Object.keys(targets), { minLength: 40, maxLength: 80 }), {
        seed: 6,
        numRuns: 2,
      });
      const wrong: unknown[] = [];
      for (const rules of sets) {
        const server = await site.start({ part, corefile: rootBlock, files: rendered(rules, mode, part) });
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

/** Asks for each host, its neighbours and names that nobody claims, every type of each. */
async function disagreements(server: CoreDns, rules: readonly Rule[], manner: Manner): Promise<unknown[]> {
  const names = rules.flatMap(({ host }) => [
    ...[host, host.toUpperCase(), `x.${host}`, `X.y.${host}`, `_acme-challenge.${host}`, `a._tcp.${host}`],
    ...[`x${host}`, host.slice(host.indexOf('.') + 1)],
  ]);
  const questions = [...new Set([...names, 'unclaimed.test'])].flatMap((name) => asked.map((type) => ({ name, type })));
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

describe('server blocks', () => {
  function threeBlocks(place: Place): string {
    const { port, common, cluster, forward } = place;
    const text = [
      `.:${port} {\n    ${common}\n    ${forward}\n}\n`,
      `cluster.local:${port} {\n    bind 127.0.0.1\n    ${cluster}\n}\n`,
      `example.com:${port} {\n    bind 127.0.0.1\n    ${forward}\n}\n`,
    ].join('');
    return withImport(text, place, ({ keys }) => keys[0]?.text !== `cluster.local:${port}`);
  }

  it('CS-31 a host is answered by the block that owns its zone', async () => {
    const rules = [rule('api.example.com'), rule('api.example.org')];
    const server = await site.start({ corefile: threeBlocks, files: files(rules, 'template') });
    const answers = await Promise.all(
      ['api.example.com', 'api.example.org', 'www.example.com'].map((name) => outcome(server, name)),
    );
    const mail = await outcome(server, 'api.example.com', 'MX');
    await server.stop();

    expect(answers).toEqual([toIngress, toIngress, 'world']);
    expect(mail).toBe('world');
  });

  it('blocks of our own leave the names of the cluster to the root, whatever is claimed above them', async () => {
    const rules = [rule('local'), rule('shop.local'), rule('arpa')];
    const server = await site.start({ corefile: rootBlock, files: rendered(rules, 'zoneblocks') });
    const names = ['local', 'shop.local', 'arpa', other.slice(0, -1), 'unclaimed.local'];
    const answers = await Promise.all(names.map((name) => outcome(server, name)));
    await server.stop();

    expect(answers).toEqual([toIngress, toIngress, toIngress, toOther, 'world']);
  });

  it('CS-32 rules under a key of coredns-custom are answered from', async () => {
    const { [key]: text = '' } = files([rule('api.example.com')], 'grouped');
    const server = await site.start({
      corefile: ({ port, common, cluster, forward, mountPath }) =>
        `.:${port} {\n    ${common}\n    import ${mountPath}/*.override\n    ${cluster}\n    ${forward}\n}\nimport ${mountPath}/*.server\n`,
      files: { 'coredns-sync.override': text },
    });
    const answer = await outcome(server, 'api.example.com');
    await server.stop();

    expect(answer).toBe(toIngress);
  });

  it('rules beside the blocks start well and break the target for the whole cluster, which our check foresees', async () => {
    const rules = files([rule('a.example.com'), rule('b.example.com')], 'exact');
    let corefile = '';
    function beside(place: Place): string {
      const { port, common, cluster, forward, mountPath } = place;
      const everywhere = common.replace('bind 127.0.0.1', ''); // as in a cluster: the wrong block asks for the same address
      corefile = `.:${port} {\n    ${everywhere}\n    ${cluster}\n    ${forward}\n}\nimport ${mountPath}/*.server\n`;
      return corefile;
    }
    const server = await site.start({ corefile: beside, files: rules });
    const answers = await Promise.all(['a.example.com', ingress.slice(0, -1)].map((name) => outcome(server, name)));
    const path = `${server.volume.directory}/${key}`;
    await server.stop();

    expect(answers).toEqual(['SERVFAIL', 'SERVFAIL']);
    expect(checkConfiguration(corefile, new Map(), new Map([[path, rules[key] ?? '']]))).toMatchObject([
      { file: path },
    ]);
  });

  it.each([
    ['. {', (place: Place) => `.:${place.port} {\n    ${place.common}\n}\n`],
    ['a comment after the brace', (place: Place) => `.:${place.port} { # main\n    ${place.common}\n}\n`],
    ['a brace on its own line', (place: Place) => `.:${place.port}\n{\n    ${place.common}\n}\n`],
    ['a scheme', (place: Place) => `dns://.:${place.port} {\n    ${place.common}\n}\n`],
    ['carriage returns', (place: Place) => `.:${place.port} {\n    ${place.common}\n}\n`.replaceAll('\n', '\r\n')],
    ['no braces', (place: Place) => `.:${place.port}\n${place.common}\n`],
    ['a comma', (place: Place) => `a.test:${place.port},\n.:${place.port} {\n    ${place.common}\n}\n`],
    ['a snippet', (place: Place) => `(s) {\n    ${place.common}\n}\n.:${place.port} {\n    import s\n}\n`],
  ])('CS-28 our edit leaves a Corefile with %s as CoreDNS wants it', async (_, corefile) => {
    function text(place: Place): string {
      return withImport(corefile(place), place, ({ keys }) => keys.some((each) => /^(dns:\/\/)?\.:/.test(each.text)));
    }

    const refusal = await site.tryStart({ corefile: text, files: files([rule('a.test')], 'exact') });

    expect(refusal).toBeUndefined();
  });

  it.each([
    ['a block that stays open', '. {\n    errors\n'],
    ['a brace too many', '. {\n    errors }\n}\n'],
    ['an import without an argument', '. {\n    import\n}\n'],
    ['an import of two things', '. {\n    import a b\n}\n'],
    ['two stars in an import', '. {\n    import /a/*/*.x\n}\n'],
    ['a snippet that is there twice', '(s) {\n    errors\n}\n(s) {\n    errors\n}\n. {\n    import s\n}\n'],
    ['a comma without another zone', '., {\n    errors\n}\n'],
  ])('CoreDNS and we refuse %s alike', async (_, text) => {
    const refusal = await site.tryStart({ corefile: () => text });

    expect(refusal).toContain('exit code 1');
    expect(() => parseCorefile(text)).toThrow();
  });
});

describe('a running CoreDNS', () => {
  /**
   * Changes the files and waits until CoreDNS is through with them. It remembers what it runs only at the end of a reload, by
   * reading the files once more: a change right before that would go unseen until the next one.
   */
  async function replace(server: CoreDns, fresh: VolumeFiles, served: string, as: string = toIngress): Promise<void> {
    const { version } = parseReload(await server.metrics());
    server.write(fresh);
    await waitUntil(`${served} is answered by ${as}`, async () => {
      const { version: now } = parseReload(await server.metrics());
      return now !== undefined && now !== version && (await outcome(server, served)) === as;
    });
  }

  it(
    'takes the rules over from the Go operator without a moment in which a host is not served',
    async () => {
      const hosts = ['a.example.com', 'b.example.com', 'c.example.org'];
      const peer = [
        '# Auto-generated by coredns-ingress-sync controller',
        '# Last updated: 2026-01-01T00:00:00Z',
        ...hosts.map((host) => `rewrite name exact ${host} ${ingress}`),
      ].map((line) => `${line}\n`);
      const server = await site.start({ corefile: rootBlock, files: { [key]: peer.join('') } });
      await using following = followAnswers(server.dns, Object.fromEntries(hosts.map((host) => [host, toIngress])));
      for (const mode of renderModes) {
        const rules = [...hosts, `${mode}.example.com`].map((host) => rule(host));
        await replace(server, rendered(rules, mode), `${mode}.example.com`);
      }
      const { answers, wrong } = await following.stop();
      await server.stop();

      expect(answers).toBeGreaterThan(100);
      expect(wrong).toEqual([]);
    },
    patience,
  );

  it(
    'CS-43 serves 12,000 hosts from growing shards, none missing at any moment',
    async () => {
      const hosts = Array.from({ length: 12_000 }, (_, at) => rule(`h${at}.example.com`));
      const few = files(hosts.slice(0, 100), 'exact');
      const [even = [], odd = []] = [0, 1].map((half) => hosts.filter((_, at) => at % 2 === half));
      const second = renderRules(odd, { mode: 'exact', key: shardKey(key, 1) });
      const server = await site.start({ corefile: rootBlock, files: few });
      await using following = followAnswers(server.dns, { 'h0.example.com': toIngress, 'h1.example.com': toIngress });
      await replace(server, { ...few, ...second }, 'h11999.example.com');
      await replace(server, { ...files(even, 'exact'), ...second }, 'h11998.example.com');
      const { wrong } = await following.stop();
      await server.stop();

      expect(wrong).toEqual([]);
    },
    patience,
  );

  it(
    'CS-36 starts and goes on while the rules are gone, and serves them when they return',
    async () => {
      const server = await site.start({ corefile: rootBlock, files: {} });
      const without = await outcome(server, 'a.example.com');
      await replace(server, files([rule('a.example.com')], 'exact'), 'a.example.com');
      await replace(server, {}, 'a.example.com', 'world');
      await server.stop();

      expect(without).toBe('world');
    },
    patience,
  );

  it(
    'says when it refused a text, and goes on with the last good one',
    async () => {
      const server = await site.start({ corefile: rootBlock, files: files([rule('a.example.com')], 'exact') });
      const before = { pod: parseReload(await server.metrics()) };
      server.volume.write({ [key]: 'rewrite name regex ( broken. answer auto\n' });
      await waitUntil('the refusal', async () => {
        return judgeReload(before, { pod: parseReload(await server.metrics()) }) === 'refused';
      });
      const still = await outcome(server, 'a.example.com');
      await server.stop();

      expect(still).toBe(toIngress);
    },
    patience,
  );
});
