/**
 * The hosts that a rule of Traefik names in `Host(…)`, as they are written. What stands behind a `!` names no host, and
 * patterns (`HostRegexp`) are no names. Undefined for a rule that Traefik would refuse.
 */
export function hostsOfRule(rule: string): readonly string[] | undefined {
  const tokens = tokenize(rule);
  const parser = tokens === undefined ? undefined : parseAny({ tokens, at: 0, hosts: [], negated: false, depth: 0 });
  return parser?.at === tokens?.length ? parser?.hosts : undefined;
}

type Token =
  { readonly kind: 'name' | 'text'; readonly value: string } | { readonly kind: '(' | ')' | ',' | '!' | '&&' | '||' };

interface Parser {
  readonly tokens: readonly Token[];
  readonly at: number;
  readonly hosts: readonly string[];
  readonly negated: boolean;
  /** Parentheses and negations around what is read. */
  readonly depth: number;
}

/** Longer rules are not looked at: a tenant's text must not keep us busy. */
const longestRule = 65_536;
/** Nor are deeper ones, which nobody writes by hand: each level is a call within a call. */
const deepestRule = 100;
const token = /\s*(?:(&&|\|\||[(),!])|([A-Za-z][A-Za-z0-9]*)|`([^`]*)`|"((?:[^"\\]|\\.)*)")/y;

function tokenize(rule: string): readonly Token[] | undefined {
  const text = rule.trimEnd();
  if (text.length > longestRule) {
    return undefined;
  }
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (found === null) {
      return undefined;
    }
    tokens.push(tokenOf(found));
  }
  return tokens;
}

function tokenOf([, sign, name, raw, quoted]: RegExpExecArray): Token {
  if (sign !== undefined) {
    return { kind: sign as '(' };
  }
  return name === undefined ? { kind: 'text', value: raw ?? unquote(quoted ?? '') } : { kind: 'name', value: name };
}

/** Any other escape stays as it is written: a host with a backslash is refused, and its object told so. */
function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

function parseAny(parser: Parser): Parser | undefined {
  return parseChain(parser, '||', (next) => parseChain(next, '&&', parseUnary));
}

function parseChain(
  parser: Parser,
  sign: '||' | '&&',
  operand: (parser: Parser) => Parser | undefined,
): Parser | undefined {
  let last = operand(parser);
  while (last !== undefined && kindAt(last) === sign) {
    last = operand(advance(last));
  }
  return last;
}

function parseUnary(parser: Parser): Parser | undefined {
  const kind = kindAt(parser);
  if (kind === 'name') {
    return parseCall(parser);
  }
  const { negated, depth } = parser;
  if ((kind !== '!' && kind !== '(') || depth === deepestRule) {
    return undefined;
  }
  const inner = { ...advance(parser), depth: depth + 1 };
  const operand = kind === '!' ? parseUnary({ ...inner, negated: !negated }) : expect(')', parseAny(inner));
  return operand === undefined ? undefined : { ...operand, negated, depth };
}

/** As Traefik spells each of its matchers. */
const hostMatchers: readonly string[] = ['Host', 'host', 'HOST'];

function parseCall(parser: Parser): Parser | undefined {
  const values: string[] = [];
  let last = expect('(', advance(parser));
  while (last !== undefined && kindAt(last) === 'text') {
    values.push(valueAt(last));
    const next = advance(last);
    last = kindAt(next) === ',' ? advance(next) : next;
  }
  const end = expect(')', last);
  const names = hostMatchers.includes(valueAt(parser)) && !parser.negated;
  return end === undefined ? undefined : { ...end, hosts: names ? [...end.hosts, ...values] : end.hosts };
}

function valueAt({ tokens, at }: Parser): string {
  const found = tokens[at];
  return found !== undefined && 'value' in found ? found.value : '';
}

function kindAt({ tokens, at }: Parser): Token['kind'] | undefined {
  return tokens[at]?.kind;
}

function advance(parser: Parser): Parser {
  return { ...parser, at: parser.at + 1 };
}

function expect(kind: Token['kind'], parser: Parser | undefined): Parser | undefined {
  return parser !== undefined && kindAt(parser) === kind ? advance(parser) : undefined;
}
