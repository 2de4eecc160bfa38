import { parseCorefile, CorefileError, type KnownFiles, type ServerBlock } from './corefile/parse.ts';
import { renderRules, type Files, type RenderMode } from './render.ts';
import type { Rule } from './rule.ts';

/** Why a text must not be written. */
export interface Problem {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

/** CoreDNS refuses longer ones, and with them its whole configuration. */
const patternLimit = 10_000;

const name = '[a-z0-9-]+(?:\\.[a-z0-9-]+)*';
const label = '\\[a-z0-9-\\]\\[a-z0-9_-\\]\\*\\\\\\.';
const escapedName = '[a-z0-9-]+(?:\\\\\\.[a-z0-9-]+)*';
const pattern = `\\^(?:${label}|\\(\\?:${label}\\)\\+)?(?:${escapedName}|\\(\\?:${escapedName}(?:\\|${escapedName})+\\))\\\\\\.\\$`;

/** Every line that a rendering may consist of. All patterns of this grammar are RE2: no look-around, no references. */
const grammar: readonly RegExp[] = [
  /^# [ -~]*$/,
  new RegExp(`^rewrite name exact ${name} ${name}\\.$`),
  new RegExp(`^rewrite name regex ${pattern} ${name}\\. answer auto$`),
  /^template IN (?:A|AAAA) \{$/,
  new RegExp(`^ {4}match ${pattern}$`),
  new RegExp(`^ {4}answer "\\{\\{ \\.Question\\.Name \\}\\} \\d+ IN CNAME ${name}\\."$`),
  /^ {4}fallthrough$/,
  /^\}$/,
];

/** Checks a rendering by itself: nothing but lines of the known forms, each short enough, braces in pairs. */
export function checkFiles(files: Files): readonly Problem[] {
  return Object.entries(files).flatMap(([file, text]) => [...checkLines(file, text), ...checkBlock(file, text)]);
}

/** May this rule be rendered at all? The last sieve behind the checks of hosts and targets. */
export function isSound(rule: Rule, mode: RenderMode): boolean {
  return checkFiles(renderRules([rule], { mode, key: 'rule' })).length === 0;
}

/**
 * Checks the whole configuration as CoreDNS would read it after a write: the Corefile with all that it imports, our files
 * among them. What is wrong without us is not ours to report: CoreDNS runs with it.
 */
export function checkConfiguration(corefile: string, others: KnownFiles, ours: KnownFiles): readonly Problem[] {
  try {
    const { blocks } = parseCorefile(corefile, new Map([...others, ...ours]));
    return [...misplaced(blocks, ours), ...repeatedKeys(blocks, ours)];
  } catch (error) {
    if (error instanceof CorefileError) {
      return isReadable(corefile, others) ? [{ file: 'Corefile', message: error.message }] : [];
    }
    throw error;
  }
}

function checkLines(file: string, text: string): readonly Problem[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line, index) => {
      const message = lineProblem(line);
      return message === undefined ? [] : [{ file, line: index + 1, message }];
    });
}

function lineProblem(line: string): string | undefined {
  if (line.length >= patternLimit && line.split(' ').some((word) => word.length >= patternLimit)) {
    return `a pattern of ${patternLimit} bytes or more`;
  }
  return grammar.some((form) => form.test(line)) ? undefined : 'not a line that we render';
}

function checkBlock(file: string, text: string): readonly Problem[] {
  if (!text.endsWith('\n')) {
    return [{ file, message: 'the last line does not end' }];
  }
  return checkConfiguration(`. {\nimport /${file}\n}\n`, new Map(), new Map([[`/${file}`, text]]));
}

/**
 * Our files hold directives, never a key or a brace of a block. Imported beside the blocks instead of inside one, a rule
 * would become the name of a zone that fails for everybody.
 */
function misplaced(blocks: readonly ServerBlock[], ours: KnownFiles): readonly Problem[] {
  return blocks.flatMap(({ keys, open, close }) =>
    [keys[0], open, close].flatMap((token) =>
      token !== undefined && ours.has(token.file)
        ? [{ file: token.file, line: token.line, message: 'the text does not stand inside a server block' }]
        : [],
    ),
  );
}

function repeatedKeys(blocks: readonly ServerBlock[], ours: KnownFiles): readonly Problem[] {
  const seen = new Set<string>();
  return blocks
    .flatMap(({ keys }) => keys)
    .flatMap(({ text, file, line }) => {
      const repeated = seen.has(text);
      seen.add(text);
      return repeated && ours.has(file) ? [{ file, line, message: `the zone ${text} is there already` }] : [];
    });
}

function isReadable(corefile: string, files: KnownFiles): boolean {
  try {
    parseCorefile(corefile, files);
    return true;
  } catch {
    return false;
  }
}
