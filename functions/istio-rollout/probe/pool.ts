/** Does the work for all items, so many at once, and returns the results in the order of the items. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const queue = items.entries();

  async function worker(): Promise<void> {
    for (const [index, item] of queue) {
      results[index] = await work(item);
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
