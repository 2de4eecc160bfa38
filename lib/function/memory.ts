import type { Context } from './definition.ts';

/**
 * A value that each running instance of a function has for itself, made at first use. It dies with the process, so it may
 * only hold what can be rebuilt at any time, such as the snapshot that admission decides from.
 */
export function perInstance<T>(make: () => T): (context: Pick<Context, 'metrics'>) => T {
  // Contexts come and go with every request; the metrics of a function live exactly as long as the instance.
  const values = new WeakMap<object, { readonly value: T }>();
  return ({ metrics }) => {
    const known = values.get(metrics);
    if (known !== undefined) {
      return known.value;
    }
    const value = make();
    values.set(metrics, { value });
    return value;
  };
}
