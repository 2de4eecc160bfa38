import { apply, insertLines, isInside, lineAfter, lineOf, type Edit } from './lines.ts';
import {
  CorefileError,
  corefilePath,
  parseCorefile,
  type Configuration,
  type KnownFiles,
  type ServerBlock,
} from './parse.ts';
import { globMatches, resolvePath } from './path.ts';
import { startsLine, tokenize, type Token } from './token.ts';

/** What is imported, and which files that must cover. */
export interface OwnImport {
  /** `<directory>/*.server`: absolute, one wildcard. */
  readonly pattern: string;
  /** Paths of all files that the rules may ever have. */
  readonly paths: readonly string[];
  readonly position: 'first' | 'last';
}

/** Does the block, or the configuration beside its blocks, import all of our files, by our own pattern or one that covers it? */
export function imports(
  { imports }: Pick<ServerBlock | Configuration, 'imports'>,
  own: Pick<OwnImport, 'pattern' | 'paths'>,
): boolean {
  return imports.some(({ argument }) => isOwn(argument, own) || (own.paths.length > 0 && covers(argument, own)));
}

/** Does the block import any of our files? Then it has our rules, whether it should or not. */
export function importsSome({ imports }: Pick<ServerBlock, 'imports'>, { paths }: Pick<OwnImport, 'paths'>): boolean {
  return imports.some(({ argument }) => {
    const pattern = resolvePath(argument.text, argument.file);
    return paths.some((path) => globMatches(pattern, path));
  });
}

/**
 * Adds our import to the wanted blocks that lack it and leaves one where there were several; every other byte stays. Throws
 * when the text can't be read, or when the edit would not do just that.
 */
export function addImports(
  text: string,
  files: KnownFiles,
  wanted: (block: ServerBlock) => boolean,
  own: OwnImport,
): string {
  const blocks = parseCorefile(text, files).blocks.filter(wanted);
  const cuts = blocks.flatMap((block) => surplus(text, block, own));
  const inserts = blocks
    .filter((block) => !imports(block, own))
    .map((block) => insertLines(text, block, own.position, [`import ${own.pattern}`]));
  const edited = apply(text, [...cuts, ...inserts]);
  assertOnlyOurs(text, edited, own);
  if (
    !parseCorefile(edited, files)
      .blocks.filter(wanted)
      .every((block) => imports(block, own))
  ) {
    throw new CorefileError('the import would not stand among the directives of its block', blocks[0]?.open);
  }
  return edited;
}

/** Adds an import beside the blocks, on a line of its own right after the given one, and changes nothing else. */
export function addImportAfter(
  text: string,
  files: KnownFiles,
  block: Pick<ServerBlock, 'close'>,
  own: Pick<OwnImport, 'pattern'>,
): string {
  const edited = apply(text, [lineAfter(text, block, `import ${own.pattern}`)]);
  assertOnlyOurs(text, edited, own);
  const [before, after] = [parseCorefile(text, files), parseCorefile(edited, files)];
  if (after.blocks.length !== before.blocks.length || !imports(after, { ...own, paths: [] })) {
    throw new CorefileError('the import would not stand beside the blocks', block.close);
  }
  return edited;
}

/** Takes every import of ours out, wherever it stands. */
export function removeImports(text: string, own: Pick<OwnImport, 'pattern'>): string {
  const tokens = tokenize(text, corefilePath);
  const cuts = ownImportTokens(tokens, own).map((token) => lineOf(text, token));
  const edited = apply(text, cuts);
  assertOnlyOurs(text, edited, own);
  return edited;
}

/** All but the first of our own imports that stand in this very block. */
function surplus(text: string, block: ServerBlock, own: OwnImport): readonly Edit[] {
  return block.imports
    .filter(({ directive, argument }) => isInside(directive, block) && isOwn(argument, own))
    .slice(1)
    .map(({ directive }) => lineOf(text, directive));
}

function isOwn(argument: Token, { pattern }: Pick<OwnImport, 'pattern'>): boolean {
  return resolvePath(argument.text, argument.file) === pattern;
}

function covers(argument: Token, { paths }: Pick<OwnImport, 'paths'>): boolean {
  const pattern = resolvePath(argument.text, argument.file);
  return paths.every((path) => globMatches(pattern, path));
}

function ownImportTokens(tokens: readonly Token[], own: Pick<OwnImport, 'pattern'>): readonly Token[] {
  return tokens.filter((token, index) => {
    const argument = tokens[index + 1];
    return (
      token.text === 'import' &&
      startsLine(tokens[index - 1], token) &&
      argument !== undefined &&
      !startsLine(token, argument) &&
      isOwn(argument, own)
    );
  });
}

/** The last line of defence: whatever an edit did, all tokens but ours must be there, in their order and on their own lines. */
function assertOnlyOurs(before: string, after: string, own: Pick<OwnImport, 'pattern'>): void {
  if (foreignTokens(before, own) !== foreignTokens(after, own)) {
    throw new CorefileError('an edit would change more than our import; the text stays as it is');
  }
}

function foreignTokens(text: string, own: Pick<OwnImport, 'pattern'>): string {
  const tokens = tokenize(text, corefilePath);
  const ours = new Set(ownImportTokens(tokens, own).flatMap((token) => [token, tokens[tokens.indexOf(token) + 1]]));
  return JSON.stringify(
    tokens
      .map((token, index) => (ours.has(token) ? [] : [token.text, startsLine(tokens[index - 1], token)]))
      .filter((entry) => entry.length > 0),
  );
}
