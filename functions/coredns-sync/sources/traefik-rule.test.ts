import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hostsOfRule } from './traefik-rule.ts';

describe('the hosts of a Traefik rule', () => {
  it.each([
    ['Host(`a.example`)', ['a.example']],
    ['Host("a.example")', ['a.example']],
    ['Host(`a.example`, `b.example`)', ['a.example', 'b.example']],
    ['Host(`a.example`) && PathPrefix(`/x`)', ['a.example']],
    ['(Host(`a.example`) || Host(`b.example`)) && !Path(`/c`)', ['a.example', 'b.example']],
    ['!Host(`a.example`)', []],
    ['!!Host(`a.example`)', ['a.example']],
    ['!(Host(`a.example`) || Host(`b.example`)) && Host(`c.example`)', ['c.example']],
    ['HostRegexp(`.+\\.example`)', []],
    ['PathPrefix(`Host(\\`a\\`)`)', undefined],
    ['Header(`X`, `Host(a)`) && Host(`b.example`)', ['b.example']],
    ['Host(`a.example`', undefined],
    ['Host(`a.example`) Host(`b.example`)', undefined],
    ['Host(`a.example`) &&', undefined],
    ['', undefined],
    ['Host()', []],
    ['host(`a.example`) || HOST(`b.example`) || hOST(`c.example`)', ['a.example', 'b.example']],
    ['Host("a\\nb.example")', ['a\\nb.example']],
    ['Host("\\x61.example")', ['\\x61.example']],
    ['Host("a\\"b\\\\c")', ['a"b\\c']],
  ])('of %s', (rule, hosts) => {
    expect(hostsOfRule(rule)).toEqual(hosts);
  });

  it.each([
    ['parentheses', '(', ')'],
    ['negations', '!!', ''],
    ['both', '!(!(', '))'],
  ])('refuses a rule of so many %s that reading it would end the process', (_what, open, close) => {
    for (const times of [3_000, 15_000]) {
      expect(hostsOfRule(`${open.repeat(times)}Host(\`a.example\`)${close.repeat(times)}`)).toBeUndefined();
    }
    expect(hostsOfRule(`${open.repeat(20)}Host(\`a.example\`)${close.repeat(20)}`)).toEqual(['a.example']);
  });

  it('takes any text without failing', () => {
    const piece = fc.constantFrom('Host', '(', ')', '`', '"', ',', '!', '&&', '||', 'a.b', ' ', '\\', '\n', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        hostsOfRule(pieces.join(''));
      }),
      { numRuns: 2000 },
    );
  });

  it('names every host of a chain, once for each time it stands there', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}\.example$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.boolean()), { minLength: 1, maxLength: 8 }), (parts) => {
        const rule = parts.map(([host, negated]) => `${negated ? '!' : ''}Host(\`${host}\`)`).join(' || ');
        expect(hostsOfRule(rule)).toEqual(parts.flatMap(([host, negated]) => (negated ? [] : [host])));
      }),
    );
  });
});
