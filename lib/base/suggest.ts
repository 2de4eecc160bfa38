/** ` did you mean …?` with the nearest of the words, or an empty text if none is near. */
export function suggestion(given: string, words: readonly string[]): string {
  const nearest = nearestWord(given, words);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** The word that was most likely meant: at most a third of its letters differ. */
export function nearestWord(given: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, distance: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .sort((one, other) => one.distance - other.distance);
  return ranked[0]?.word;
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      rows[row]?.push(cheapest(rows, { row, column, from, to }));
    }
  }
  return rows[from.length]?.[to.length] ?? 0;
}

interface Place {
  readonly row: number;
  readonly column: number;
  readonly from: string;
  readonly to: string;
}

function cheapest(rows: readonly (readonly number[])[], { row, column, from, to }: Place): number {
  function cost(up: number, left: number): number {
    return rows[row - up]?.[column - left] ?? 0;
  }
  const isSame = from[row - 1] === to[column - 1];
  const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
  return Math.min(cost(1, 0) + 1, cost(0, 1) + 1, cost(1, 1) + (isSame ? 0 : 1), ...(isSwap ? [cost(2, 2) + 1] : []));
}
