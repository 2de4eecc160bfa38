import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkFiles } from './check.ts';
import { stableHash } from '../hash.ts';
import { chooseMode } from './mode.ts';
import { renderModes, renderRules, shardKey } from './render.ts';
import type { Match, Rule } from '../rule.ts';
import { renderingOf } from '../testing/rendering.ts';
import { arbitraryRules } from '../testing/rules.ts';

const target = 'ingress.web.svc.cluster.local.';

function rule(text: string, match: Match = text.startsWith('*.') ? 'label' : 'exact'): Rule {
  return { host: text.replace(/^\*\./, ''), match, target };
}

function render(rules: readonly Rule[], mode: (typeof renderModes)[number]): string[] {
  return Object.values(renderFiles(rules, mode)).flat();
}

const addresses = { [target]: ['10.96.0.10', 'fd00::a'] };

/** The lines of each file, without comments. */
function renderFiles(rules: readonly Rule[], mode: (typeof renderModes)[number]): Record<string, string[]> {
  const files = renderRules(rules, { ...renderingOf(mode, { addresses, port: ':1053' }), key: 'dynamic.server' });
  return Object.fromEntries(
    Object.entries(files).map(([key, text]) => [key, text.split('\n').filter((line) => /^[^#;]/.test(line))]),
  );
}

/** What templates in a block answer with, in the order in which they are asked. */
function templates(target: string, pattern: string, zone = ''): string[] {
  return ['A', 'AAAA'].flatMap((type) => [
    `template IN ${type}${zone} {`,
    `    match ${pattern}`,
    `    answer "{{ .Question.Name }} 30 IN CNAME ${target}"`,
    '    fallthrough',
    '}',
  ]);
}

const hosts = arbitraryRules([target, 'other.web.svc.cluster.local.']);

describe('rules', () => {
  it('are one line for each host in exact mode', () => {
    expect(render([rule('b.example.com'), rule('a.example.com')], 'exact')).toEqual([
      `rewrite name exact a.example.com ${target}`,
      `rewrite name exact b.example.com ${target}`,
    ]);
  });

  it('CS-20 have exact names before wildcards, and wildcards of longer domains before others', () => {
    const rules = ['*.example.com', '*.x.example.com', 'z.example.com'].map((text) => rule(text));

    expect(render([...rules, rule('*.example.com', 'suffix')], 'exact')).toEqual([
      `rewrite name exact z.example.com ${target}`,
      `rewrite name regex ^[a-z0-9-][a-z0-9_-]*\\.x\\.example\\.com\\.$ ${target} answer auto`,
      `rewrite name regex ^[a-z0-9-][a-z0-9_-]*\\.example\\.com\\.$ ${target} answer auto`,
      `rewrite name regex ^(?:[a-z0-9-][a-z0-9_-]*\\.)+example\\.com\\.$ ${target} answer auto`,
    ]);
  });

  it('share patterns in grouped mode, and in them the domain that all names have', () => {
    expect(render([rule('b.example.com'), rule('a.x.example.com')], 'grouped')).toEqual([
      `rewrite name regex ^(?:a\\.x|b)\\.example\\.com\\.$ ${target} answer auto`,
    ]);
    expect(render([rule('a.example.com'), rule('example.com'), rule('test')], 'grouped')).toEqual([
      `rewrite name regex ^(?:a\\.example\\.com|example\\.com|test)\\.$ ${target} answer auto`,
    ]);
  });

  it('of a large domain have patterns of their own', () => {
    const shop = Array.from({ length: 900 }, (_, index) => rule(`app-${index}.shop.example`));
    const blog = Array.from({ length: 30 }, (_, index) => rule(`app-${index}.blog.test`));
    const patterns = render([...shop, ...blog], 'grouped').map((line) => line.split(' ')[3] ?? '');

    expect(patterns.filter((pattern) => pattern.includes('blog')).length).toBe(1);
    expect(patterns.filter((pattern) => pattern.endsWith(')\\.shop\\.example\\.$')).length).toBe(patterns.length - 1);
  });

  it('answer A and AAAA alone in template mode, and let all else pass', () => {
    expect(render([rule('a.example.com')], 'template')).toEqual(templates(target, '^a\\.example\\.com\\.$'));
  });

  it('are addresses in a file in hosts mode', () => {
    expect(renderFiles([rule('b.example.com'), rule('a.example.com')], 'hosts')).toEqual({
      'dynamic.server': [
        'hosts /etc/rules/dynamic.hosts . {',
        ...['    ttl 30', '    no_reverse', '    fallthrough', '    fallthrough_unsupported'],
        '}',
      ],
      'dynamic.hosts': [
        ...['10.96.0.10 a.example.com', 'fd00::a a.example.com', '10.96.0.10 b.example.com', 'fd00::a b.example.com'],
      ],
    });
  });

  it('are templates in hosts mode where a target has no address', () => {
    const elsewhere = { ...rule('a.example.com'), target: 'elsewhere.test.' };

    expect(renderFiles([elsewhere], 'hosts')).toEqual({
      'dynamic.server': templates('elsewhere.test.', '^a\\.example\\.com\\.$'),
    });
  });

  it('are aliases in a zone in zone mode, with another serial number for other names', () => {
    const [first, second] = ['a.example.com', 'b.example.com'].map((host) => renderFiles([rule(host)], 'zone'));

    expect(first?.['dynamic.server']).toEqual([
      ...['file /etc/rules/dynamic.zone . {', '    reload 5s', '    fallthrough', '}'],
    ]);
    expect(first?.['dynamic.zone']?.[1]).toBe(`a.example.com. 30 IN CNAME ${target}`);
    expect(first?.['dynamic.zone']?.[0]).toMatch(/^\. 30 IN SOA \. \. [1-9]\d* /);
    expect(second?.['dynamic.zone']?.[0]).not.toBe(first?.['dynamic.zone']?.[0]);
  });

  it.each(['hosts', 'zone'] as const)(
    'are templates in %s mode for wildcards and the names that they cover',
    (mode) => {
      const covered = [rule('*.example.com'), { ...rule('x.example.com'), target: 'other.svc.' }];
      const text = renderFiles([...covered, rule('x.y.example.com')], mode);

      expect(text['dynamic.server']?.slice(0, -1)).toEqual(
        expect.arrayContaining(templates('other.svc.', '^x\\.example\\.com\\.$').slice(0, 4)),
      );
      expect(JSON.stringify(text[`dynamic.${mode}`])).toContain('x.y.example.com');
      expect(JSON.stringify(text[`dynamic.${mode}`])).not.toContain(' x.example.com');
    },
  );

  it('are server blocks named after the hosts in zoneblocks mode', () => {
    expect(renderFiles([rule('b.example.com'), rule('a.example.com')], 'zoneblocks')).toEqual({
      'dynamic.server': [],
      'dynamic.blocks': [
        ...['a.example.com:1053,', 'b.example.com:1053 {', '    errors', '    cache 30 .'],
        ...templates(target, '^(?:[^.]+\\.){3}$', ' .').map((line) => `    ${line}`),
        ...['    forward . /etc/resolv.conf', '}'],
      ],
    });
  });

  it('stay among the directives of a block that has the zone already, in zoneblocks mode', () => {
    const rules = [rule('example.com'), rule('*.example.com'), rule('a.example.com')];
    const files = renderRules(rules, { ...renderingOf('zoneblocks', { taken: ['example.com'] }), key: 'k.server' });

    expect(files['k.server']).toContain('match ^example\\.com\\.$');
    expect(files['k.blocks']).toContain('\na.example.com {\n');
    expect(files['k.blocks']).not.toMatch(/^example\.com/m);
  });

  it('take no questions from zones that the root answers itself, in zoneblocks mode', () => {
    const rules = ['example.com', '*.com', 'arpa', 'a.example.com', 'k8s.example.com.au'].map((text) => rule(text));
    const inside = ['in-addr.arpa', 'k8s.example.com'];
    const files = renderRules(rules, { ...renderingOf('zoneblocks', { inside }), key: 'k.server' });
    const keys = files['k.blocks']?.split('\n').filter((line) => /^[a-z]/.test(line));

    expect(keys).toEqual(['a.example.com {', 'k8s.example.com.au {']);
    expect(files['k.server']).toContain('match ^(?:arpa|example\\.com)\\.$');
  });

  it.each(renderModes)('CS-5 are the same bytes in %s mode whatever order they come in', (mode) => {
    fc.assert(
      fc.property(hosts, (rules) => {
        const shuffled = rules.toSorted((left, right) => stableHash(left.host) - stableHash(right.host));

        expect(render(shuffled, mode)).toEqual(render(rules, mode));
      }),
    );
  });

  it.each(renderModes)('in %s mode are a header of its own when there are none', (mode) => {
    const rendering = { ...renderingOf(mode), key: 'k.server' };
    const empty = renderRules([], rendering);

    expect(Object.keys(empty)).toEqual(['k.server']);
    expect(empty['k.server']).toMatch(/^(# .*\n)+$/);
    expect(renderRules([rule('a.example.com')], rendering)['k.server']?.startsWith(empty['k.server'] ?? '?')).toBe(
      true,
    );
  });

  it.each(renderModes)('in %s mode are only lines that pass the check', (mode) => {
    const rendering = { ...renderingOf(mode, { addresses }), key: 'k.server' };

    fc.assert(fc.property(hosts, (rules) => expect(checkFiles(renderRules(rules, rendering))).toEqual([])));
  });

  it.each(['grouped', 'template'] as const)('in %s mode change little for a new host', (mode) => {
    const many = Array.from({ length: 12_000 }, (_, index) => rule(`app-${index}.team-${index % 7}.example.com`));
    const before = new Set(render(many, mode));
    const added = render([...many, rule('app-new.team-1.example.com')], mode).filter((line) => !before.has(line));

    expect(before.size).toBeGreaterThan(20);
    expect(added.length).toBeLessThanOrEqual(2);
  });

  it('have patterns that CoreDNS takes, with the longest names there are', () => {
    const label = 'x'.repeat(61);
    const long = Array.from({ length: 300 }, (_, index) =>
      rule(`${label}.${label}.${label}.${'y.'.repeat(30)}z${String(index).padStart(3, '0')}`),
    );
    const patterns = render(long, 'grouped').map((line) => line.split(' ')[3] ?? '');

    expect(patterns.length).toBeGreaterThan(5);
    expect(Math.max(...patterns.map((pattern) => pattern.length))).toBeLessThanOrEqual(9500);
  });
});

describe('the mode', () => {
  const question = {
    setting: 'auto',
    hosts: 50,
    wildcards: false,
    exactMaxHosts: 200,
    version: '1.11.1',
    redispatch: false,
    shards: 1,
    mounted: true,
    occupied: [],
    addressed: true,
    blocks: true,
  } as const;

  it('CS-44 is grouped for 5,000 hosts on 1.14.7', () => {
    expect(chooseMode({ ...question, hosts: 5000, version: '1.14.7' })).toEqual({ mode: 'grouped' });
  });

  it.each([
    ['exact for few hosts', {}, 'exact'],
    ['grouped for many', { hosts: 201 }, 'grouped'],
    ['template when a block can not resolve the targets', { redispatch: true }, 'template'],
    ['template for many on a version that nobody knows', { hosts: 201, version: undefined }, 'template'],
    ['exact for few on a version that nobody knows', { version: undefined }, 'exact'],
    ['template for wildcards before 1.8.4', { wildcards: true, version: '1.8.3' }, 'template'],
    ['exact with wildcards from 1.8.4', { wildcards: true, version: '1.8.4' }, 'exact'],
    ['exact with wildcards on 1.10.1', { wildcards: true, version: '1.10.1' }, 'exact'],
  ])('is %s', (_, changes, mode) => {
    expect(chooseMode({ ...question, ...changes })).toEqual({ mode });
  });

  it.each([
    ['hosts', { setting: 'hosts' }],
    ['hosts on a version that nobody knows', { setting: 'hosts', version: undefined }],
    ['zone from 1.12.2', { setting: 'zone', version: '1.12.2' }],
    ['zoneblocks', { setting: 'zoneblocks', version: undefined }],
  ] as const)('can be %s', (_, changes) => {
    expect(chooseMode({ ...question, ...changes })).toEqual({ mode: changes.setting });
  });

  it.each([
    ['CS-44 zone before 1.12.2', { setting: 'zone', version: '1.10.1' }, /needs CoreDNS 1\.12\.2, this is 1\.10\.1/],
    ['zone on an unknown version', { setting: 'zone', version: undefined }, /an unknown version/],
    ['zone beside a zone of somebody else', { setting: 'zone', version: '1.15.0', occupied: ['file'] }, /file plugin/],
    ['hosts beside hosts of somebody else', { setting: 'hosts', occupied: ['hosts'] }, /can have only one/],
    ['hosts without an address', { setting: 'hosts', addressed: false }, /no target is a Service with a ClusterIP/],
    ['hosts without a volume', { setting: 'hosts', mounted: false }, /does not mount/],
    ['hosts while rules are spread', { setting: 'hosts', shards: 2 }, /spread over several/],
    ['zoneblocks that nobody imports', { setting: 'zoneblocks', blocks: false }, /does not import/],
  ] as const)('is template in the place of %s', (_, changes, why) => {
    expect(chooseMode({ ...question, ...changes })).toEqual({
      mode: 'template',
      why: expect.stringMatching(why) as unknown,
    });
  });

  it('that was asked for and can not work gives way, and says why', () => {
    expect(chooseMode({ ...question, setting: 'grouped', redispatch: true })).toEqual({
      mode: 'template',
      why: 'RENDER_MODE=grouped: a server block that must answer can not resolve the targets by itself',
    });
  });
});

describe('files of shards', () => {
  it('sort so that the first shard, which has the wildcards, is imported last', () => {
    const keys = Array.from({ length: 16 }, (_, shard) => shardKey('dynamic.server', shard));

    expect(keys.toSorted().at(-1)).toBe('dynamic.server');
    expect(new Set(keys).size).toBe(16);
  });
});
