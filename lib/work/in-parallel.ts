/** Does the work for every item, so many at a time. The first failure is thrown; what is under way then still ends. */
export async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) {
        await work(item);
      }
    }),
  );
}
