import { startingOver } from '../../base/retry.ts';
import type { Kube } from '../client.ts';
import { configMaps, type ConfigMap } from '../model/resource.ts';
import { documentStep, readDocument, storedAfter, type Document, type Revision, type Stored } from './document.ts';

/** The state document of a function in its ConfigMap. Every write is a compare-and-swap. */
export interface State<T> {
  /** The value as last read or written. */
  readonly value: () => T;
  /** The value of an annotation on the ConfigMap, with which operators send commands. */
  readonly annotation: (name: string) => string | undefined;
  readonly load: () => Promise<T>;
  /**
   * Writes the changed value. After a conflict, `change` is applied again to the newly read value, so it must be pure.
   * Writes nothing if `change` returns the same value.
   */
  readonly update: (change: (value: T) => T, options?: Pick<Revision, 'obsoleteAnnotations'>) => Promise<T>;
}

export interface StateOptions {
  readonly kube: Kube;
  readonly namespace: string;
  readonly signal?: AbortSignal;
}

export async function openState<T>(
  document: Document<T>,
  { kube, namespace, signal }: StateOptions,
): Promise<State<T>> {
  let stored = await read();

  async function read(): Promise<Stored<T>> {
    return readDocument(document, await kube.get(configMaps, { namespace, name: document.name }));
  }

  async function write(next: T, options: Pick<Revision, 'obsoleteAnnotations'>): Promise<T> {
    const step = documentStep(document, stored, next, { namespace, ...options });
    const outcomes = step === undefined ? [] : await kube.run({ steps: [step] });
    const metadata = step === undefined ? stored.object?.metadata : outcomes[0]?.object?.metadata;
    stored = storedAfter(document, stored, next, metadata);
    return next;
  }

  return {
    value: () => stored.value,
    annotation: (name) => annotationsOf(stored.object)[name],
    load: async () => {
      stored = await read();
      return stored.value;
    },
    update: (change, options = {}) =>
      startingOver(
        async (attempt) => {
          stored = attempt === 1 ? stored : await read();
          const next = change(stored.value);
          const isSame = next === stored.value && (options.obsoleteAnnotations ?? []).length === 0;
          return isSame ? next : write(next, options);
        },
        { signal },
      ),
  };
}

function annotationsOf(object: ConfigMap | undefined): Readonly<Record<string, string>> {
  return object?.metadata?.annotations ?? {};
}
