export interface QueueOptions<Item> {
  readonly keyOf: (item: Item) => string;
  /** Merges two waiting items of the same key. */
  readonly merge: (older: Item, newer: Item) => Item;
}

/** The waiting events of one sink. Items of one key leave in the order of arrival. */
export interface Queue<Item> {
  /** Adds a new item. If `merging`, at most one item per key waits afterwards. */
  readonly push: (item: Item, merging: boolean) => void;
  /** The oldest item that was not tried yet. */
  readonly takeFresh: () => Item | undefined;
  /** The item whose last try is the longest ago. */
  readonly takeTried: () => Item | undefined;
  /** Takes back an item that could not be delivered. If a newer one of its key waits, they are merged. */
  readonly giveBack: (item: Item) => void;
  readonly size: () => number;
}

export function createQueue<Item>({ keyOf, merge }: QueueOptions<Item>): Queue<Item> {
  const fresh = new Map<number, Item>();
  /** The positions of each key's items in `fresh`, oldest first. */
  const places = new Map<string, number[]>();
  const tried = new Map<string, Item>();
  let lastPlace = 0;

  function push(item: Item, merging: boolean): void {
    const key = keyOf(item);
    const waiting = places.get(key) ?? [];
    const last = waiting.at(-1);
    const older = last === undefined ? undefined : fresh.get(last);
    if (merging && last !== undefined && older !== undefined) {
      fresh.set(last, merge(older, item));
      return;
    }
    lastPlace += 1;
    fresh.set(lastPlace, withTried(key, item));
    places.set(key, [...waiting, lastPlace]);
  }

  function withTried(key: string, item: Item): Item {
    const older = tried.get(key);
    tried.delete(key);
    return older === undefined ? item : merge(older, item);
  }

  function takeFresh(): Item | undefined {
    const [entry] = fresh;
    if (entry === undefined) {
      return undefined;
    }
    const [place, item] = entry;
    fresh.delete(place);
    const left = (places.get(keyOf(item)) ?? []).slice(1);
    if (left.length === 0) {
      places.delete(keyOf(item));
    } else {
      places.set(keyOf(item), left);
    }
    return item;
  }

  function takeTried(): Item | undefined {
    const [entry] = tried;
    if (entry === undefined) {
      return undefined;
    }
    tried.delete(entry[0]);
    return entry[1];
  }

  function giveBack(item: Item): void {
    const key = keyOf(item);
    const newer = places.get(key);
    if (newer === undefined) {
      tried.set(key, item);
      return;
    }
    let merged = item;
    for (const place of newer) {
      const next = fresh.get(place);
      merged = next === undefined ? merged : merge(merged, next);
      fresh.delete(place);
    }
    lastPlace += 1;
    fresh.set(lastPlace, merged);
    places.set(key, [lastPlace]);
  }

  return { push, takeFresh, takeTried, giveBack, size: () => fresh.size + tried.size };
}
