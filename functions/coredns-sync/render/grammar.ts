/** CoreDNS refuses longer ones, and with them its whole configuration. */
export const patternLimit = 10_000;

const name = '[a-z0-9-]+(?:\\.[a-z0-9-]+)*';
const label = '\\[a-z0-9-\\]\\[a-z0-9_-\\]\\*\\\\\\.';
const prefix = `(?:${label}|\\(\\?:${label}\\)\\+)?`;
const escapedName = '[a-z0-9-]+(?:\\\\\\.[a-z0-9-]+)*';
const names = `\\(\\?:${escapedName}(?:\\|${escapedName})+\\)(?:\\\\\\.${escapedName})?`;
const pattern = `\\^${prefix}(?:${escapedName}|${names})\\\\\\.\\$`;
const depthPattern = `\\^${prefix}\\(\\?:\\[\\^\\.\\]\\+\\\\\\.\\)\\{\\d+\\}\\$`;
const answer = `answer "\\{\\{ \\.Question\\.Name \\}\\} \\d+ IN CNAME ${name}\\."`;
const path = '/[-_./a-zA-Z0-9]+';
const address = '(?:\\d{1,3}(?:\\.\\d{1,3}){3}|[0-9a-f:]{2,39})';

function lines(...forms: readonly string[]): readonly RegExp[] {
  return forms.map((form) => new RegExp(`^(?:${form})$`));
}

/**
 * Every line that a rendering may consist of, by the extension of its file; that of the imported text may be any other. All
 * patterns of this grammar are RE2: no look-around, no references.
 */
export const grammars = {
  imported: lines(
    '# [ -~]*',
    `rewrite name exact ${name} ${name}\\.`,
    `rewrite name regex ${pattern} ${name}\\. answer auto`,
    'template IN (?:A|AAAA) \\{',
    ` {4}match ${pattern}`,
    ` {4}${answer}`,
    ' {4}fallthrough',
    `hosts ${path} \\. \\{`,
    ' {4}ttl \\d+',
    ' {4}no_reverse',
    ' {4}fallthrough_unsupported',
    `file ${path} \\. \\{`,
    ' {4}reload \\d+s',
    '\\}',
  ),
  hosts: lines('# [ -~]*', `${address} ${name}`),
  zone: lines(
    '; [ -~]*',
    `\\. \\d+ IN SOA \\. \\. [1-9]\\d* \\d+ \\d+ \\d+ \\d+`,
    `${name}\\. \\d+ IN CNAME ${name}\\.`,
  ),
  blocks: lines(
    '# [ -~]*',
    `${name}(?::\\d+)?(?:,| \\{)`,
    ' {4}errors',
    ' {4}cache \\d+ \\.',
    ' {4}template IN (?:A|AAAA) \\. \\{',
    ` {8}match ${depthPattern}`,
    ` {8}${answer}`,
    ' {8}fallthrough',
    ' {4}(?:bind|forward)(?: [-_.:/\\[\\]a-zA-Z0-9]+)+(?: \\{)?',
    ' {8}[a-z_]+(?: [-_.:/\\[\\]a-zA-Z0-9]+)*', // options of the root's forward
    '(?: {4})?\\}',
  ),
};
