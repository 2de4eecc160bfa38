import { describe, expect, it } from '@jest/globals';
import { checkConfiguration, checkFiles, checkImports, isSound } from './check.ts';
import { renderModes } from './render.ts';
import { renderingOf } from '../testing/rendering.ts';

const good = '# Comment\nrewrite name exact a.example.com t.svc.cluster.local.\n';

describe('the check of a rendering', () => {
  it.each([
    ['another directive', 'forward . 192.0.2.1'],
    ['a rule without a target', 'rewrite name exact a.example.com'],
    ['a target without its dot', 'rewrite name exact a.example.com t.svc'],
    ['a reference to the environment', 'rewrite name exact a.example.com {$HOME}.'],
    ['look-ahead', 'rewrite name regex ^(?=a)a\\.com\\.$ t. answer auto'],
    ['a pattern that is not anchored', 'rewrite name regex a\\.com\\.$ t. answer auto'],
    ['a dot that is not escaped', 'rewrite name regex ^a.com\\.$ t. answer auto'],
    ['a pattern without the answer', 'rewrite name regex ^a\\.com\\.$ t.'],
    ['a brace that closes the block', '}'],
    ['a template that stays open', 'template IN A {'],
    ['a pattern that is too long', `rewrite name regex ^${'a'.repeat(10_000)}\\.$ t. answer auto`],
  ])('refuses %s', (_, line) => {
    expect(checkFiles({ 'dynamic.server': `${good}${line}\n` })).not.toEqual([]);
  });

  it('refuses a text without an end', () => {
    expect(checkFiles({ 'dynamic.server': good.trimEnd() })).toMatchObject([{ message: 'the last line does not end' }]);
  });

  it('passes what is rendered, and says where it does not', () => {
    expect(checkFiles({ 'dynamic.server': good })).toEqual([]);
    expect(checkFiles({ 'dynamic.server': `${good}errors\n` })).toEqual([
      { file: 'dynamic.server', line: 3, message: 'not a line that we render' },
    ]);
  });

  it.each(renderModes)('tells the one rule that spoils a text in %s mode', (mode) => {
    const rule = { host: 'a.example.com', match: 'exact', target: 't.svc.' } as const;

    expect(isSound(rule, renderingOf(mode))).toBe(true);
    expect(isSound({ ...rule, host: 'a\nforward . evil' }, renderingOf(mode))).toBe(false);
    expect(isSound({ ...rule, target: 't.svc. #' }, renderingOf(mode))).toBe(false);
  });
});

describe('the check of the whole configuration', () => {
  const files = new Map([['/rules/dynamic.server', good]]);
  const corefile = '.:53 {\n    import /rules/*.server\n    errors\n}\n';

  it('passes rules among the directives of a block', () => {
    expect(checkConfiguration(corefile, new Map(), files)).toEqual([]);
  });

  it('refuses rules that are imported beside the blocks, where they would become zones', () => {
    expect(checkConfiguration(`${corefile}import /rules/*.server\n`, new Map(), files)).toMatchObject([
      { file: '/rules/dynamic.server', line: 2 },
    ]);
  });

  it('refuses rules that break what was whole', () => {
    const broken = new Map([['/rules/dynamic.server', `${good}}\n`]]);

    expect(checkConfiguration(corefile, new Map(), broken)).not.toEqual([]);
  });

  it.each([
    ['*', 1],
    ['dynamic.*', 1],
    ['*.server', 0],
    ['dynamic.server', 0],
  ])('finds that import /rules/%s takes in what is no configuration: %d times', (pattern, times) => {
    const text = corefile.replace('*.server', pattern);

    expect(checkImports(text, new Map(), ['/rules/dynamic.claims'])).toHaveLength(times);
  });

  it('does not blame the rules for what was broken without them', () => {
    expect(checkConfiguration('.:53 {\n', new Map(), files)).toEqual([]);
  });
});
