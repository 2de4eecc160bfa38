import { globMatches, resolvePath } from './path.ts';
import { startsLine, tokenize, type Token } from './token.ts';

/** A configuration as CoreDNS would read it, with what is imported in place. */
export interface Configuration {
  readonly blocks: readonly ServerBlock[];
  /** Imports beside the blocks. */
  readonly imports: readonly Import[];
  /** Paths and patterns of imports that match no file that somebody showed us. */
  readonly unknown: readonly string[];
}

export interface ServerBlock {
  readonly keys: readonly Token[];
  /** Absent in the one block that may do without braces. */
  readonly open: Token | undefined;
  readonly close: Token | undefined;
  readonly directives: readonly Directive[];
  /** Imports among the directives, those inside imported text included. */
  readonly imports: readonly Import[];
}

export interface Directive {
  readonly name: Token;
  /** All tokens after the name. */
  readonly rest: readonly Token[];
  /** Those of them on the line of the name. */
  readonly words: readonly string[];
}

export interface Import {
  readonly directive: Token;
  readonly argument: Token;
}

/** Texts by absolute path, as far as they are known. */
export type KnownFiles = ReadonlyMap<string, string>;

/** CoreDNS would refuse the text, or we can't follow it. */
export class CorefileError extends Error {
  constructor(message: string, token?: Token) {
    super(token === undefined ? message : `${token.file}:${token.line}: ${message}`);
    this.name = 'CorefileError';
  }
}

interface Parser {
  tokens: readonly Token[];
  at: number;
  readonly files: KnownFiles;
  readonly snippets: Map<string, readonly Token[]>;
  readonly imports: Import[];
  readonly unknown: string[];
  expansions: number;
}

/** CoreDNS has such a cap too; it ends imports of a text by itself. */
const maxExpansions = 10_000;

export const corefilePath = '/etc/coredns/Corefile';

export function parseCorefile(text: string, files: KnownFiles = new Map(), path = corefilePath): Configuration {
  const parser: Parser = {
    tokens: tokenize(text, path),
    at: 0,
    files,
    snippets: new Map(),
    imports: [],
    unknown: [],
    expansions: 0,
  };
  const blocks: ServerBlock[] = [];
  while (parser.at < parser.tokens.length) {
    const block = parseBlock(parser);
    if (block !== undefined) {
      blocks.push(block);
    }
  }
  return { blocks, imports: parser.imports, unknown: parser.unknown };
}

/** One server block; undefined for a snippet, or for imports that brought none. */
function parseBlock(parser: Parser): ServerBlock | undefined {
  const keys = parseKeys(parser);
  const [first] = keys;
  const open = takeBrace(parser, '{');
  if (first === undefined) {
    if (open !== undefined) {
      throw new CorefileError('a block without a zone', open);
    }
    return undefined;
  }
  if (keys.length === 1 && /^\(.*\)$/.test(first.text)) {
    keepSnippet(parser, first);
    return undefined;
  }
  const { directives, imports } = parseDirectives(parser);
  const close = takeBrace(parser, '}');
  if ((open === undefined) !== (close === undefined)) {
    throw new CorefileError(open === undefined ? 'a brace that closes nothing' : 'the block is not closed', first);
  }
  return { keys, open, close, directives, imports };
}

function takeBrace(parser: Parser, brace: '{' | '}'): Token | undefined {
  return current(parser)?.text === brace ? take(parser) : undefined;
}

/** Keys end at a brace or at the end of the line, unless a comma says that another follows. */
function parseKeys(parser: Parser): readonly Token[] {
  const keys: Token[] = [];
  let another = false;
  for (let token = current(parser); token !== undefined; token = current(parser)) {
    const newLine = startsLine(parser.tokens[parser.at - 1], token);
    if (token.text === '{' || (keys.length > 0 && newLine && !another)) {
      break;
    }
    if (token.text === 'import' && newLine) {
      parser.imports.push(expandImport(parser));
    } else {
      another = token.text.endsWith(',');
      keys.push(another ? { ...token, text: token.text.slice(0, -1) } : token);
      parser.at += 1;
    }
  }
  if (another) {
    throw new CorefileError('another zone must follow the comma', keys.at(-1));
  }
  return keys;
}

function parseDirectives(parser: Parser): { directives: Directive[]; imports: Import[] } {
  const directives: Directive[] = [];
  const imports: Import[] = [];
  for (let token = current(parser); token !== undefined && token.text !== '}'; token = current(parser)) {
    if (token.text === 'import') {
      imports.push(expandImport(parser));
    } else {
      directives.push(parseDirective(parser));
    }
  }
  return { directives, imports };
}

/** A directive ends with its line, or with the brace that closes what its line opened. */
function parseDirective(parser: Parser): Directive {
  const name = take(parser);
  const rest: Token[] = [];
  let depth = 0;
  for (let token = current(parser); token !== undefined; token = current(parser)) {
    const newLine = startsLine(parser.tokens[parser.at - 1], token);
    if (token.text === '{') {
      depth += 1;
    } else if (newLine && depth === 0) {
      break;
    } else if (token.text === '}') {
      depth -= 1;
    } else if (token.text === 'import' && newLine) {
      expandImport(parser);
      continue;
    }
    if (depth < 0) {
      throw new CorefileError('a brace that closes nothing', token);
    }
    rest.push(take(parser));
  }
  if (depth > 0) {
    throw new CorefileError(`the braces of ${name.text} are not closed`, name);
  }
  return { name, rest, words: rest.filter(({ line, file }) => line === name.line && file === name.file).map(textOf) };
}

/** Puts the imported tokens in the place of the directive and its argument; the parser goes on with the first of them. */
function expandImport(parser: Parser): Import {
  const directive = take(parser);
  const argument = current(parser);
  const extra = parser.tokens[parser.at + 1];
  if (argument === undefined || startsLine(directive, argument)) {
    throw new CorefileError('import needs a file or a snippet', directive);
  }
  if (extra !== undefined && !startsLine(argument, extra)) {
    throw new CorefileError('import takes one argument', directive);
  }
  parser.expansions += 1;
  if (parser.expansions > maxExpansions) {
    throw new CorefileError('imports without end', directive);
  }
  parser.at -= 1;
  const [before, after] = [parser.tokens.slice(0, parser.at), parser.tokens.slice(parser.at + 2)];
  parser.tokens = before.concat(importedTokens(parser, argument), after); // too many for the arguments of a splice
  return { directive, argument };
}

function importedTokens(parser: Parser, argument: Token): readonly Token[] {
  const snippet = parser.snippets.get(argument.text);
  if (snippet !== undefined) {
    return snippet;
  }
  const path = resolvePath(argument.text, argument.file);
  if ((path.match(/\*/g) ?? []).length > 1 || (path.match(/\?/g) ?? []).length > 1 || /\[.*\]/.test(path)) {
    throw new CorefileError('a pattern may contain one * and one ?', argument);
  }
  const matches = [...parser.files.keys()].filter((file) => globMatches(path, file)).sort();
  if (matches.length === 0) {
    parser.unknown.push(path);
  }
  return matches.flatMap((file) => tokenize(parser.files.get(file) ?? '', file));
}

function keepSnippet(parser: Parser, key: Token): void {
  const name = key.text.slice(1, -1);
  if (parser.snippets.has(name)) {
    throw new CorefileError(`the snippet ${name} is there twice`, key);
  }
  const body: Token[] = [];
  for (let depth = 1; depth > 0;) {
    if (parser.at === parser.tokens.length) {
      throw new CorefileError(`the snippet ${name} is not closed`, key);
    }
    const token = take(parser);
    depth += Number(token.text === '{') - Number(token.text === '}');
    body.push(token);
  }
  parser.snippets.set(name, body.slice(0, -1));
}

function current(parser: Parser): Token | undefined {
  return parser.tokens[parser.at];
}

function take(parser: Parser): Token {
  const token = current(parser);
  if (token === undefined) {
    throw new CorefileError('the text ends too early');
  }
  parser.at += 1;
  return token;
}

function textOf({ text }: Token): string {
  return text;
}
