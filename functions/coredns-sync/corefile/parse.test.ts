import { describe, expect, it } from '@jest/globals';
import { hasInline, putInline, removeInline } from './inline.ts';
import { parseCorefile } from './parse.ts';
import { parseKey } from './zone.ts';

function shape(text: string, files: Readonly<Record<string, string>> = {}): unknown[] {
  return parseCorefile(text, new Map(Object.entries(files))).blocks.map(({ keys, directives }) => [
    keys.map((key) => key.text).join(' '),
    ...directives.map(({ name, words }) => [name.text, ...words].join(' ')),
  ]);
}

describe('a Corefile', () => {
  it('is blocks of directives; quotes, comments and carriage returns are what CoreDNS takes them for', () => {
    const text =
      '.:53 a.test { # x { y\r\n  log "a b" c#d\r\n  template IN A {\n    match "a }"x\n  }\n}\nb.test {\n}\n';

    expect(shape(text)).toEqual([['.:53 a.test', 'log a b c', 'template IN A {'], ['b.test']]);
  });

  it('is read with its snippets and files, in the order of their names', () => {
    const text = '(s) {\n  errors\n}\n. {\n  import s\n  import rules/*.server\n  cache\n}\nimport more/*\n';
    const files = {
      '/etc/coredns/rules/b.server': 'log\n',
      '/etc/coredns/rules/a.server': 'whoami\n',
      '/etc/coredns/rules/a.other': 'loop\n',
      '/etc/coredns/more/x': 'x.test {\n any\n}\n',
    };

    expect(shape(text, files)).toEqual([
      ['.', 'errors', 'whoami', 'log', 'cache'],
      ['x.test', 'any'],
    ]);
  });

  it.each([
    ['a block that stays open', '. {\n errors\n'],
    ['a directive that stays open', '. {\n kubernetes {\n}\n'],
    ['a brace too many in a directive', '. {\n errors }\n}\n'],
    ['an import without an argument', '. {\n import\n}\n'],
    ['an import of two things', '. {\n import a b\n}\n'],
    ['two stars', '. {\n import /a/*/*.x\n}\n'],
    ['a snippet that is there twice', '(s) {\n errors\n}\n(s) {\n errors\n}\n'],
    ['a comma without another zone', '., {\n}\n'],
    ['imports without end', '(s) {\n import s\n}\n. {\n import s\n}\n'],
  ])('with %s is refused', (_, text) => {
    expect(() => parseCorefile(text)).toThrow();
  });

  it.each([
    ['.', { zone: '', port: 53 }],
    ['.:1053', { zone: '', port: 1053 }],
    ['dns://Example.com.:53', { zone: 'example.com', port: 53 }],
    ['tls://.:853', undefined],
    ['https://.', undefined],
    ['10.0.0.0/24', undefined],
    ['{$ZONE}', undefined],
  ])('has the key %s', (text, key) => {
    expect(parseKey(text)).toEqual(key);
  });
});

describe('rules inside the Corefile', () => {
  const text = '. {\n    errors\n}\n';
  const rules = { text: '# Header.\nrewrite name exact a.test t.svc.\n', position: 'first' } as const;

  it('stand between two comments, are replaced there and go without a trace', () => {
    const once = putInline(text, new Map(), () => true, rules);
    const twice = putInline(once, new Map(), () => true, { ...rules, text: 'rewrite name exact b.test t.svc.\n' });

    expect(hasInline(once)).toBe(true);
    expect(shape(once)).toEqual([['.', 'rewrite name exact a.test t.svc.', 'errors']]);
    expect(shape(twice)).toEqual([['.', 'rewrite name exact b.test t.svc.', 'errors']]);
    expect(putInline(once, new Map(), () => true, rules)).toBe(once);
    expect(removeInline(twice)).toBe(text);
  });

  it('are left alone when a comment is missing', () => {
    const once = putInline(text, new Map(), () => true, rules);
    const [, begin = '', , , end = ''] = once.split('\n');

    expect(() => removeInline(once.replace(`${begin}\n`, ''))).toThrow('pairs');
    expect(() => removeInline(once.replace(`${end}\n`, ''))).toThrow('never end');
  });
});
