/** Identifies a value of an instance, and creates it at first use. */
export interface MemoryKey<T> {
  readonly make: () => T;
}

/** Returns the value of this instance for a key. */
export type Memory = <T>(key: MemoryKey<T>) => T;

/**
 * Creates a key for `context.memory`. The value is lost with the process, so it may hold only what can be rebuilt at
 * any time, such as the snapshot that admission decides from:
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
