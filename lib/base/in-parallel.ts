/**
 * Does the work for every item, so many at a time, and returns the results in the order of the items. The first failure
 * is thrown; what is under way then still ends.
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
