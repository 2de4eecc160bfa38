import { beforeAll, describe, expect, it } from '@jest/globals';
import { checkFiles } from './render/check.ts';
import { isRefused, parseHost, parseTarget, type HostPolicy } from './host.ts';
import { renderModes, renderRules } from './render/render.ts';
import { renderingOf } from './testing/rendering.ts';
import { hostKey, type Rule } from './rule.ts';
import { long } from '../../test/support/long.ts';
import { junkHost } from './testing/junk.ts';

const target = 'ingress.web.svc.cluster.local.';

const policy: HostPolicy = {
  clusterDomain: 'cluster.local',
  targets: [target, 'lb.edge.example.net.'],
  allow: [],
  exclude: [],
  minWildcardLabels: 2,
};

function parse(text: string, changes: Partial<HostPolicy> = {}): string {
  const outcome = parseHost(text, 'label', { ...policy, ...changes });
  return isRefused(outcome) ? outcome.refused : `${outcome.match} ${outcome.host}`;
}

describe('a host', () => {
  it('CS-15 is the same in any case and with or without its final dot', () => {
    expect(parse('API.Example.com.')).toBe('exact api.example.com');
    expect(parse(' api.example.com ')).toBe('exact api.example.com');
  });

  it.each([
    ['bücher.example', 'exact xn--bcher-kva.example'],
    ['BÜCHER.example.', 'exact xn--bcher-kva.example'],
    ['*.bücher.example', 'label xn--bcher-kva.example'],
    ['1.2', 'exact 1.2'],
    ['１.２', 'exact 1.2'],
    ['0x7f.1', 'exact 0x7f.1'],
  ])('CS-16 %s becomes %s, never an address', (text, expected) => {
    expect(parse(text)).toBe(expected);
  });

  it.each([
    ...['', '.', '..', 'a..b', '-a.example', 'a-.example', '*', '*.', 'a.*.example', '**.example.com'],
    ...['{$HOME}.example', '{%HOME%}.example', 'a#b.example', 'a b.example', 'a\tb.example', '"a".example'],
    ...['a\nb.example', 'a\r.example', 'a;b', 'a(b', 'a\\b', 'a_b.example', 'a\u0000.example', 'a/b', 'a:53'],
    ...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(127)}b`, '%41é.example', 'a／b.example', 'é\nb.example'],
  ])('CS-18 %j is refused', (text) => {
    expect(parse(text)).toBe('invalid');
  });

  it('CS-18 takes labels of 63 and names of 253 bytes', () => {
    const longest = `${'a.'.repeat(126)}b`;

    expect(parse(`${'a'.repeat(63)}.example`)).toBe(`exact ${'a'.repeat(63)}.example`);
    expect(parse(longest)).toBe(`exact ${longest}`);
  });

  it.each([
    ['*.com', 'broad'],
    ['kubernetes.default.svc.cluster.local', 'protected'],
    ['cluster.local', 'protected'],
    ['*.svc.cluster.local', 'protected'],
    ['4.3.2.1.in-addr.arpa', 'protected'],
    ['x.ip6.arpa', 'protected'],
    ['localhost', 'protected'],
    ['lb.edge.example.net', 'protected'],
    ['*.edge.example.net', 'protected'],
    ['10.0.0.1', 'address'],
    ['*.10.0.0.1', 'address'],
  ])('CS-21 %s is refused as %s', (text, reason) => {
    expect(parse(text)).toBe(reason);
  });

  it('CS-21 is refused when its wildcard would take the names of the cluster', () => {
    const changed = { ...policy, clusterDomain: 'k8s.corp.example' };

    expect(parseHost('*.corp.example', 'suffix', changed)).toMatchObject({ refused: 'protected' });
    expect(parseHost('*.corp.example', 'label', changed)).toMatchObject({ refused: 'protected' });
    expect(parseHost('*.shop.corp.example', 'suffix', changed)).toEqual({ host: 'shop.corp.example', match: 'suffix' });
  });

  it('must be in a domain that may be claimed', () => {
    expect(parse('a.example.com', { allow: ['example.com'] })).toBe('exact a.example.com');
    expect(parse('a.notexample.com', { allow: ['example.com'] })).toBe('outside');
    expect(parse('a.private.example.com', { exclude: ['private.example.com'] })).toBe('outside');
    expect(parse('*.example.com', { exclude: ['private.example.com'] })).toBe('outside');
    expect(parse('*.example.com', { exclude: ['very.private.example.com'] })).toBe('label example.com');
  });
});

const inputs = long(1_000_000, 100_000);

describe(`${inputs.toLocaleString('en')} generated hosts and targets`, () => {
  const accepted = new Map<string, Rule>();
  const targets = new Set<string>();

  beforeAll(() => {
    for (let seed = 0; seed < inputs; seed += 1) {
      const text = junkHost(seed);
      const outcome = parseHost(text, seed % 2 === 0 ? 'label' : 'suffix', policy);
      if (!isRefused(outcome)) {
        accepted.set(hostKey(outcome), { ...outcome, target });
      }
      targets.add(parseTarget(text) ?? target);
    }
  });

  it('are made of letters, digits, hyphens and dots where they are taken, and parse to themselves', () => {
    const wrong = [...accepted.values()].filter(
      ({ host }) => !/^[a-z0-9.-]{1,253}$/.test(host) || parse(host) !== `exact ${host}`,
    );

    expect(accepted.size).toBeGreaterThan(inputs / 100);
    expect(wrong).toEqual([]);
    expect([...targets].filter((text) => !/^[a-z0-9.-]{1,253}\.$/.test(text))).toEqual([]);
  });

  it.each(renderModes)('give only lines of the known forms in %s mode', (mode) => {
    const names = [...targets];
    const rules = [...accepted.values()].map((rule, index) => ({ ...rule, target: names[index % 7] ?? target }));
    const addresses = { [names[0] ?? '']: ['10.0.0.1'] };

    expect(checkFiles(renderRules(rules, { ...renderingOf(mode, { addresses }), key: 'k.server' }))).toEqual([]);
  });
});

describe('a target', () => {
  it('is fully qualified', () => {
    expect(parseTarget('Ingress.web.svc.cluster.local')).toBe('ingress.web.svc.cluster.local.');
  });

  it.each(['', '.', '10.0.0.1', '*.example.com', 'a b', 'a\n', 'a{b}', 'a_b.c'])('%j is none', (text) => {
    expect(parseTarget(text)).toBeUndefined();
  });
});
