/** Orders texts by their code units, the same on every machine, unlike `localeCompare`. For `sort`. */
export function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

/** Orders values by a text of theirs: `objects.toSorted(by(({ name }) => name))`. */
export function by<T>(textOf: (value: T) => string): (a: T, b: T) => number {
  return (a, b) => compareText(textOf(a), textOf(b));
}
