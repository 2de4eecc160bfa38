import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkFiles } from './check.ts';
import { stableHash } from './hash.ts';
import { chooseMode } from './render-mode.ts';
import { renderModes, renderRules, shardKey } from './render.ts';
import type { Match, Rule } from './rule.ts';
import { arbitraryRules } from './testing/rules.ts';

const target = 'ingress.web.svc.cluster.local.';

function rule(text: string, match: Match = text.startsWith('*.') ? 'label' : 'exact'): Rule {
  return { host: text.replace(/^\*\./, ''), match, target };
}

function render(rules: readonly Rule[], mode: (typeof renderModes)[number]): string[] {
  const text = renderRules(rules, { mode, key: 'dynamic.server' })['dynamic.server'] ?? '';
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
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

  it('share patterns in grouped mode', () => {
    expect(render([rule('b.example.com'), rule('a.example.com')], 'grouped')).toEqual([
      `rewrite name regex ^(?:a\\.example\\.com|b\\.example\\.com)\\.$ ${target} answer auto`,
    ]);
  });

  it('answer A and AAAA alone in template mode, and let all else pass', () => {
    expect(render([rule('a.example.com')], 'template')).toEqual(
      ['A', 'AAAA'].flatMap((type) => [
        `template IN ${type} {`,
        '    match ^a\\.example\\.com\\.$',
        `    answer "{{ .Question.Name }} 30 IN CNAME ${target}"`,
        '    fallthrough',
        '}',
      ]),
    );
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
    const empty = renderRules([], { mode, key: 'k' })['k'];

    expect(empty).toMatch(/^(# .*\n)+$/);
    expect(renderRules([rule('a.example.com')], { mode, key: 'k' })['k']?.startsWith(empty ?? '?')).toBe(true);
  });

  it.each(renderModes)('in %s mode are only lines that pass the check', (mode) => {
    fc.assert(fc.property(hosts, (rules) => expect(checkFiles(renderRules(rules, { mode, key: 'k' }))).toEqual([])));
  });

  it.each(['grouped', 'template'] as const)('in %s mode change little for a new host', (mode) => {
    const many = Array.from({ length: 5000 }, (_, index) => rule(`app-${index}.team-${index % 7}.example.com`));
    const before = new Set(render(many, mode));
    const added = render([...many, rule('app-new.team-1.example.com')], mode).filter((line) => !before.has(line));

    expect(before.size).toBeGreaterThan(20);
    expect(added.length).toBeLessThanOrEqual(2);
  });

  it('have patterns that CoreDNS takes, with the longest names there are', () => {
    const label = 'x'.repeat(61);
    const long = Array.from({ length: 300 }, (_, index) =>
      rule(`${String(index).padStart(3, '0')}.${label}.${label}.${label}.${'y.'.repeat(29)}z`),
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
