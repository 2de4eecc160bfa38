import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addImports, imports, removeImports, type OwnImport } from './import.ts';
import { parseCorefile, type ServerBlock } from './parse.ts';
import { zonesOf } from './zone.ts';

const own: OwnImport = {
  pattern: '/etc/coredns/custom/sync/*.server',
  paths: ['/etc/coredns/custom/sync/dynamic.server', '/etc/coredns/custom/sync/dynamic-1.server'],
  position: 'first',
};
const line = `import ${own.pattern}`;

function isRoot(block: ServerBlock): boolean {
  return zonesOf(block).some(({ zone }) => zone === '');
}

function add(text: string, changes: Partial<OwnImport> = {}): string {
  return addImports(text, new Map(), isRoot, { ...own, ...changes });
}

describe('the import', () => {
  it.each([
    ['.:53 { # main', '.:53 { # main\n    errors\n}\n', `.:53 { # main\n    ${line}\n    errors\n}\n`],
    ['a brace on its own line', '.:53\n{\n  errors\n}\n', `.:53\n{\n  ${line}\n  errors\n}\n`],
    ['. {', '. {\n\terrors\n}', `. {\n\t${line}\n\terrors\n}`],
    ['dns://.:53 {', 'dns://.:53 {\n    errors\n}\n', `dns://.:53 {\n    ${line}\n    errors\n}\n`],
    ['other keys on the line', 'a.test .:53 {\nerrors\n}\n', `a.test .:53 {\n${line}\nerrors\n}\n`],
    ['keys on two lines', 'a.test,\n. {\n errors\n}\n', `a.test,\n. {\n ${line}\n errors\n}\n`],
    ['an empty block', '.:53 {\n}\n', `.:53 {\n    ${line}\n}\n`],
    ['a block without braces', '.\nerrors\n', `.\n${line}\nerrors\n`],
  ])('CS-28 is added once in the right place: %s', (_, before, after) => {
    expect(add(before)).toBe(after);
    expect(add(before.replaceAll('\n', '\r\n'))).toBe(after.replaceAll('\n', '\r\n'));
    expect(add(after)).toBe(after);
  });

  it('CS-28 can stand last in the block', () => {
    expect(add('. {\n  errors\n  kubernetes cluster.local {\n    ttl 5\n  }\n}\n', { position: 'last' })).toBe(
      `. {\n  errors\n  kubernetes cluster.local {\n    ttl 5\n  }\n  ${line}\n}\n`,
    );
  });

  it.each([
    ['CS-26', 'a comment', `.:53 {\n    # ${line}\n    errors\n}\n`],
    ['CS-26', 'a comment at the end of a line', `.:53 {\n    errors # ${line}\n}\n`],
    ['CS-27', 'another block', `example.org {\n    ${line}\n}\n.:53 {\n    errors\n}\n`],
    ['CS-27', 'a longer path', '.:53 {\n    import /backup/etc/coredns/custom/sync/*.server\n    errors\n}\n'],
    ['CS-27', 'the body of a directive', `.:53 {\n    kubernetes cluster.local {\n        ${line}\n    }\n}\n`],
    ['CS-27', 'a snippet that nobody imports', `(rules) {\n    ${line}\n}\n.:53 {\n    errors\n}\n`],
    ['CS-27', 'one of several files', '.:53 {\n    import /etc/coredns/custom/sync/dynamic.server\n}\n'],
    ['CS-27', 'the text beside the blocks', `.:53 {\n    errors\n}\n${line}\n`],
  ])('%s is added to the root block when it is only in %s', (_case, _where, text) => {
    expect(add(text)).toBe(text.replace('.:53 {\n', `.:53 {\n    ${line}\n`));
  });

  it.each([
    ['as it is', line],
    ['in quotes', `import "${own.pattern}"`],
    ['by another spelling of the path', 'import /etc/coredns/custom/../custom/sync/*.server'],
    ['by a relative path', 'import custom/sync/*.server'],
    ['by a pattern that covers it', 'import /etc/coredns/custom/sync/*'],
  ])('CS-30 is left alone when it is there %s', (_, directive) => {
    const text = `.:53 {\n    errors\n    ${directive}\n}\n`;

    expect(add(text)).toBe(text);
  });

  it('is left alone when it comes through a snippet', () => {
    const text = `(rules) {\n    ${line}\n}\n.:53 {\n    import rules\n    errors\n}\n`;

    expect(add(text)).toBe(text);
  });

  it('is one where there were several', () => {
    expect(add(`. {\n  ${line}\n  errors\n  ${line}\n}\n`)).toBe(`. {\n  ${line}\n  errors\n}\n`);
  });

  it('is refused where a line can not be added', () => {
    expect(() => add('. { kubernetes cluster.local {\n  ttl 5\n }\n}\n')).toThrow(
      'would not stand among the directives',
    );
  });

  it('goes without a trace from every block, and only as a directive', () => {
    const text = `# ${line}\n. {\n  ${line}\n  errors\n}\nb.test {\n\t${line}\n}\n`;

    expect(removeImports(text, own)).toBe(`# ${line}\n. {\n  errors\n}\nb.test {\n}\n`);
  });

  const word = fc.constantFrom(
    'errors',
    'cache 30',
    'log "a } b"',
    '# note {',
    'kubernetes cluster.local {\n ttl 5\n }',
    '',
  );
  const corefile = fc
    .record({
      head: fc.constantFrom('', '# top\n', '(s) {\n errors\n}\n', 'x.test:5353 {\n whoami\n}\n'),
      key: fc.constantFrom('.', '.:53', 'dns://.', '. y.test', '.:53 z.test'),
      brace: fc.constantFrom(' {\n', '\n{\n', ' { # c\n', '  {  \n'),
      body: fc.array(fc.tuple(fc.constantFrom('', '  ', '\t'), word), { maxLength: 5 }),
      eol: fc.constantFrom('\n', '\r\n'),
      end: fc.constantFrom('', '\n', '\n\n# end'),
    })
    .map(({ head, key, brace, body, eol, end }) =>
      `${head}${key}${brace}${body.map((parts) => `${parts.join('')}\n`).join('')}}${end}`.replaceAll('\n', eol),
    );

  it.each(['first', 'last'] as const)('put %s and taken out again leaves every byte as it was', (position) => {
    fc.assert(
      fc.property(corefile, (text) => {
        const edited = add(text, { position });

        expect(
          parseCorefile(edited)
            .blocks.filter(isRoot)
            .every((block) => imports(block, own)),
        ).toBe(true);
        expect(add(edited, { position })).toBe(edited);
        expect(removeImports(edited, own)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
