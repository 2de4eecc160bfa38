/**
 * Runs `work` for every item, at most `width` at a time, and returns the results in the order of the items. Throws the
 * first failure; work that is already running continues.
 */
export async function inParallel<T, R>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length);
  const rest = items.entries();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const [index, item] of rest) {
        results[index] = await work(item);
      }
    }),
  );
  return results;
}
