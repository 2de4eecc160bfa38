/** One field of a JSON text where its name stands, in the order of the text. */
interface Frame {
  /** Names seen in this object; absent for lists. */
  readonly names: Set<string> | undefined;
  readonly path: string;
  index: number;
  name: string;
}

/**
 * Paths of the fields that a JSON text names twice in one object: `spec.replicas`, `items[0].name`.
 * The text must be valid JSON; the value that counts is the last one, as for `JSON.parse`.
 */
export function duplicateFields(text: string): readonly string[] {
  const duplicates: string[] = [];
  const stack: Frame[] = [];
  let expectsName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charAt(at)) {
      case '"': {
        const end = endOfString(text, at);
        const frame = stack.at(-1);
        if (expectsName && frame?.names !== undefined) {
          frame.name = JSON.parse(text.slice(at, end + 1)) as string;
          noteName(frame, frame.names, duplicates);
          expectsName = false;
        }
        at = end;
        break;
      }
      case '{':
      case '[':
        stack.push({ names: text[at] === '{' ? new Set() : undefined, path: pathOf(stack.at(-1)), index: 0, name: '' });
        expectsName = text[at] === '{';
        break;
      case '}':
      case ']':
        stack.pop();
        break;
      case ',':
        expectsName = step(stack.at(-1));
        break;
      default:
    }
  }
  return duplicates;
}

/** The quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') {
      escapes += 1;
    }
    if (escapes % 2 === 0) {
      return end;
    }
  }
  return text.length;
}

function noteName(frame: Frame, names: Set<string>, duplicates: string[]): void {
  const path = pathOf(frame);
  if (names.has(frame.name) && !duplicates.includes(path)) {
    duplicates.push(path);
  }
  names.add(frame.name);
}

function step(frame: Frame | undefined): boolean {
  if (frame === undefined) {
    return false;
  }
  frame.index += 1;
  return frame.names !== undefined;
}

function pathOf(frame: Frame | undefined): string {
  if (frame === undefined) {
    return '';
  }
  if (frame.names === undefined) {
    return `${frame.path}[${frame.index}]`;
  }
  return frame.path === '' ? frame.name : `${frame.path}.${frame.name}`;
}
