import { grammars, patternLimit } from './grammar.ts';
import { parseCorefile, CorefileError, type KnownFiles, type ServerBlock } from '../corefile/parse.ts';
import { globMatches, resolvePath } from '../corefile/path.ts';
import { dataExtensions, renderRules, type Files, type Rendering } from './render.ts';
import type { Rule } from '../rule.ts';

/** Why a text must not be written. */
export interface Problem {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

/** Checks a rendering by itself: nothing but lines of the known forms, each short enough, braces in pairs. */
export function checkFiles(files: Files): readonly Problem[] {
  return Object.entries(files).flatMap(([file, text]) => [...checkLines(file, text), ...checkBlock(file, text)]);
}

/** May this rule be rendered at all? The last sieve behind the checks of hosts and targets. */
export function isSound(rule: Rule, rendering: Rendering): boolean {
  return checkFiles(renderRules([rule], { ...rendering, key: 'rule.server' })).length === 0;
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

/** Files that are no configuration, and that a glob of the Corefile would have CoreDNS read as such. */
export function checkImports(corefile: string, others: KnownFiles, hidden: readonly string[]): readonly Problem[] {
  if (!isReadable(corefile, others)) {
    return [];
  }
  const { blocks, imports } = parseCorefile(corefile, others);
  return [...imports, ...blocks.flatMap((block) => block.imports)].flatMap(({ argument }) => {
    const pattern = resolvePath(argument.text, argument.file);
    const message = `import ${argument.text} takes in more than our rules; name their extension`;
    return hidden.some((path) => globMatches(pattern, path)) ? [{ file: 'Corefile', message }] : [];
  });
}

function checkLines(file: string, text: string): readonly Problem[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line, index) => {
      const message = lineProblem(line, kindOf(file));
      return message === undefined ? [] : [{ file, line: index + 1, message }];
    });
}

/** What a file holds; all but the imported text are data beside it. */
function kindOf(file: string): keyof typeof grammars {
  return dataExtensions.find((extension) => file.endsWith(`.${extension}`)) ?? 'imported';
}

function lineProblem(line: string, kind: keyof typeof grammars): string | undefined {
  if (line.length >= patternLimit && line.split(' ').some((word) => word.length >= patternLimit)) {
    return `a pattern of ${patternLimit} bytes or more`;
  }
  return grammars[kind].some((form) => form.test(line)) ? undefined : 'not a line that we render';
}

function checkBlock(file: string, text: string): readonly Problem[] {
  if (!text.endsWith('\n')) {
    return [{ file, message: 'the last line does not end' }];
  }
  const around = { imported: `. {\nimport /${file}\n}\n`, blocks: `import /${file}\n`, hosts: '', zone: '' };
  return checkConfiguration(around[kindOf(file)], new Map(), new Map([[`/${file}`, text]]));
}

/**
 * Files of rules hold directives, never a key or a brace of a block. Imported beside the blocks instead of inside one, a rule
 * would become the name of a zone that fails for everybody.
 */
function misplaced(blocks: readonly ServerBlock[], ours: KnownFiles): readonly Problem[] {
  return blocks.flatMap(({ keys, open, close }) =>
    [keys[0], open, close].flatMap((token) =>
      token !== undefined && ours.has(token.file) && kindOf(token.file) === 'imported'
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
