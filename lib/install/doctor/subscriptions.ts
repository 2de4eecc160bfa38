/** The part of an entry that names its function. */
export interface Subscribed {
  readonly name: string;
}

/** What the ConfigMap of a source lists; `undefined` where a hand has made of it what no source can read. */
export function subscriptionsIn(text: string): readonly Subscribed[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isSubscribed) ? list : undefined;
  } catch {
    return undefined;
  }
}

function isSubscribed(entry: unknown): entry is Subscribed {
  return typeof entry === 'object' && entry !== null && 'name' in entry;
}
