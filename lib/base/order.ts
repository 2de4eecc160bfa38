/** Compares texts by code units, for `sort`. Unlike `localeCompare`, the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

/** Compares values by a text of each, for `sort`: `objects.toSorted(by(({ name }) => name))`. */
export function by<T>(textOf: (value: T) => string): (a: T, b: T) => number {
  return (a, b) => compareText(textOf(a), textOf(b));
}
