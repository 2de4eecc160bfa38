/*
 * JSON as it travels: numbers of any size, keys in their order, keys called `__proto__`. A patch is applied to this, so
 * that a test can tell what happened to each byte of a pod.
 */

type Node = Leaf | List | Dictionary | Added;

/** A string, number or word, as it was written. */
interface Leaf {
  readonly kind: 'leaf';
  readonly text: string;
}

interface List {
  readonly kind: 'list';
  readonly items: Node[];
}

interface Dictionary {
  readonly kind: 'dictionary';
  readonly entries: { readonly key: string; value: Node }[];
}

/** Came by a patch, in place of nothing or of something. */
interface Added {
  readonly kind: 'added';
  readonly value: Node;
  readonly replaced: Node | undefined;
}

export interface Patched {
  readonly after: string;
  /** The same without what was added: byte for byte what there was before. */
  readonly untouched: string;
  /** What an addition took the place of. */
  readonly replaced: readonly string[];
}

interface AddOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Applies a patch of additions as strictly as RFC 6902 asks: a parent that is not there is an error. */
export function applyAdditions(text: string, operations: readonly AddOperation[]): Patched {
  const root = parse(text);
  const replaced: string[] = [];
  for (const { op, path, value } of operations) {
    if (op !== 'add' || value === undefined) {
      throw new Error(`only additions are allowed, not ${op} ${path}`);
    }
    const gone = addAt(root, path, parse(JSON.stringify(value)));
    if (gone !== undefined) {
      replaced.push(print(gone, 'after'));
    }
  }
  return { after: print(root, 'after'), untouched: print(root, 'before'), replaced };
}

function addAt(root: Node, path: string, value: Node): Node | undefined {
  const segments = path.split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = segments.pop() ?? '';
  if (segments.shift() !== '') {
    throw new Error(`not a pointer below the root: ${path}`);
  }
  const parent = segments.reduce<Node>((node, segment) => childOf(node, segment, path), root);
  const place = parent.kind === 'added' ? parent.value : parent;
  if (place.kind === 'list') {
    const index = last === '-' ? place.items.length : indexIn(place, last, path);
    place.items.splice(index, 0, { kind: 'added', value, replaced: undefined });
    return undefined;
  }
  if (place.kind !== 'dictionary') {
    throw new Error(`the parent of ${path} is neither an object nor a list`);
  }
  const present = place.entries.findLast(({ key }) => key === last);
  if (present === undefined) {
    place.entries.push({ key: last, value: { kind: 'added', value, replaced: undefined } });
    return undefined;
  }
  const gone = present.value;
  present.value = { kind: 'added', value, replaced: gone };
  return gone;
}

function childOf(node: Node, segment: string, path: string): Node {
  const place = node.kind === 'added' ? node.value : node;
  const child =
    place.kind === 'list'
      ? place.items[indexIn(place, segment, path)]
      : place.kind === 'dictionary'
        ? place.entries.findLast(({ key }) => key === segment)?.value
        : undefined;
  if (child === undefined) {
    throw new Error(`there is no ${segment} on the way to ${path}`);
  }
  return child;
}

function indexIn({ items }: List, segment: string, path: string): number {
  const index = /^(0|[1-9]\d*)$/.test(segment) ? Number(segment) : Number.NaN;
  if (!(index <= items.length)) {
    throw new Error(`${segment} is no index on the way to ${path}`);
  }
  return index;
}

function print(node: Node, when: 'before' | 'after'): string {
  switch (node.kind) {
    case 'leaf':
      return node.text;
    case 'list':
      return `[${node.items
        .filter((item) => isThere(item, when))
        .map((item) => print(item, when))
        .join(',')}]`;
    case 'dictionary':
      return `{${node.entries
        .filter(({ value }) => isThere(value, when))
        .map(({ key, value }) => `${JSON.stringify(key)}:${print(value, when)}`)
        .join(',')}}`;
    case 'added':
      return print(when === 'before' ? (node.replaced ?? node.value) : node.value, when);
  }
}

function isThere(node: Node, when: 'before' | 'after'): boolean {
  return node.kind !== 'added' || when === 'after' || node.replaced !== undefined;
}

const token = /\s*("(?:[^"\\]|\\.)*"|[-+.\w]+|[{}[\]:,])/y;

function parse(text: string): Node {
  token.lastIndex = 0;
  const node = parseValue(text, next(text));
  return node;
}

function next(text: string): string {
  const [, found] = token.exec(text) ?? [];
  if (found === undefined) {
    throw new Error('not JSON');
  }
  return found;
}

function parseValue(text: string, first: string): Node {
  if (first === '{') {
    return { kind: 'dictionary', entries: parseEntries(text) };
  }
  return first === '[' ? { kind: 'list', items: parseItems(text) } : { kind: 'leaf', text: first };
}

function parseEntries(text: string): Dictionary['entries'] {
  const entries: Dictionary['entries'] = [];
  for (let word = next(text); word !== '}'; word = next(text)) {
    const key = word === ',' ? next(text) : word;
    next(text); // the colon
    entries.push({ key: JSON.parse(key) as string, value: parseValue(text, next(text)) });
  }
  return entries;
}

function parseItems(text: string): Node[] {
  const items: Node[] = [];
  for (let word = next(text); word !== ']'; word = next(text)) {
    items.push(parseValue(text, word === ',' ? next(text) : word));
  }
  return items;
}
