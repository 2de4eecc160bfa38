import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../lib/function/config.ts';
import { Config } from './config.ts';
import { policyOf } from './policy.ts';
import { renderModes } from './render/render.ts';
import { foreignTo } from './testing/grammar.ts';
import { injectJunk } from './testing/injection.ts';

describe('hosts, targets and annotations that nobody has checked', () => {
  it('CS-17 CS-18 reach no written object unless they are names', () => {
    const { texts, contents, served, foreign } = injectJunk(100_000);

    expect(foreign).toEqual([]);
    expect(new Set(contents.map(({ mode }) => mode))).toEqual(new Set(renderModes));
    expect([texts >= 100_000, served > 1000]).toEqual([true, true]);
  });

  it.each([
    'a_b.example.com',
    'a.example.com{',
    '#x',
    '"x',
    '{$HOME}',
    `${'x'.repeat(64)}.com`,
    '-a.com',
    '10.0.0.1',
    'é',
  ])('the look at them would find %j', (text) => {
    const policy = policyOf(parseConfig(Config, {}));

    expect(
      foreignTo(policy, [{ data: { rules: `rewrite name exact ${text} ${policy.mappings[0]?.target}\n` } }]),
    ).toEqual([JSON.stringify(text)]);
  });
});
