/** Names a value that each running instance of a function has for itself, and makes it at first use. */
export interface MemoryKey<T> {
  readonly make: () => T;
}

/** The value of this instance under that key. */
export type Memory = <T>(key: MemoryKey<T>) => T;

/**
 * A key for `context.memory`. What it holds dies with the process, so it may only be what can be rebuilt at any time,
 * such as the snapshot that admission decides from:
 *
 * ```ts
 * const snapshot = memoryKey<Snapshot>(() => ({ policies: undefined }));
 * const { policies } = context.memory(snapshot);
 * ```
 */
export function memoryKey<T>(make: () => T): MemoryKey<T> {
  return { make };
}

/** The memory of one instance. */
export function createMemory(): Memory {
  const values = new Map<object, { readonly value: unknown }>();
  return <T>(key: MemoryKey<T>): T => {
    const known = values.get(key);
    if (known !== undefined) {
      return known.value as T;
    }
    const value = key.make();
    values.set(key, { value });
    return value;
  };
}
