import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KubeObject } from '../../kube/model/wire.ts';
import { createStore, type Store } from './store.ts';

const pods = { group: '', plural: 'pods' };

function pod(name: string, namespace = 'default', labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels } };
}

function keys(store: Store, namespace?: string): string[] {
  return [...store.shelf(pods).range(namespace === undefined ? {} : { namespace })].map(({ key }) => key);
}

describe('store', () => {
  it('gives every write the next revision of the whole store', () => {
    const store = createStore();

    const first = store.put(pods, pod('a'));
    const second = store.put({ group: 'apps', plural: 'deployments' }, pod('a'));

    expect(second.revision).toBe(first.revision + 1);
    expect(first.object.metadata?.resourceVersion).toBe(String(first.revision));
  });

  it('restores an object under its own revision, and in place of one that is there', () => {
    const store = createStore();
    store.put(pods, pod('a'));

    const { metadata, ...rest } = pod('a');
    const restored = store.restore(pods, { ...rest, metadata: { ...metadata, uid: 'u-1', resourceVersion: '40' } });
    const late = store.restore(pods, { ...rest, metadata: { ...metadata, name: 'b', resourceVersion: '7' } });

    expect(restored.object.metadata).toMatchObject({ uid: 'u-1', resourceVersion: '40' });
    expect([late.revision, keys(store)]).toEqual([41, ['default/a', 'default/b']]);
  });

  it('lists in key order and by namespace', () => {
    const store = createStore();
    for (const [name, namespace] of [
      ['b', 'z'],
      ['a', 'z'],
      ['c', 'a'],
      ['a', 'a-b'],
    ] as const) {
      store.put(pods, pod(name, namespace));
    }

    expect(keys(store)).toEqual(['a-b/a', 'a/c', 'z/a', 'z/b']);
    expect(keys(store, 'z')).toEqual(['z/a', 'z/b']);
    expect(keys(store, 'a')).toEqual(['a/c']);
    expect(keys(store, 'none')).toEqual([]);
  });

  it('sends listeners each change with the state before it', () => {
    const store = createStore();
    const seen: [string, boolean][] = [];
    const end = store.listen(pods, ({ type, previous }) => seen.push([type, previous !== undefined]));

    const first = store.put(pods, pod('a'));
    const second = store.put(pods, pod('a'), first);
    store.remove(pods, second);
    end();
    store.put(pods, pod('b'));

    expect(seen).toEqual([
      ['ADDED', false],
      ['MODIFIED', true],
      ['DELETED', true],
    ]);
  });

  it('forgets what a compaction drops', () => {
    const store = createStore();
    const first = store.put(pods, pod('a'));
    const { revision } = store.put(pods, pod('b'));

    store.compact();

    expect(store.shelf(pods).since(first.revision)).toBeUndefined();
    expect(store.shelf(pods).rangeAt(first.revision, {})).toBeUndefined();
    expect(store.shelf(pods).since(revision)).toEqual([]);
  });

  it('keeps at least the promised number of changes', () => {
    const store = createStore({ historyLimit: 10 });
    const revisions = Array.from({ length: 100 }, (_, index) => store.put(pods, pod(`p${index}`)).revision);

    expect(store.shelf(pods).since(revisions.at(-11) ?? 0)).toHaveLength(10);
    expect(store.shelf(pods).since(revisions[0] ?? 0)).toBeUndefined();
  });

  it('reads any remembered revision as it was then', () => {
    const write = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 30 }), (writes) => {
        const store = createStore();
        const past = new Map<number, string[]>();
        for (const { name, remove } of writes) {
          const previous = store.get(pods, name, 'default');
          if (remove && previous) {
            store.remove(pods, previous);
          } else {
            store.put(pods, pod(name), previous);
          }
          past.set(
            store.revision,
            [...store.shelf(pods).range({})].map(({ key, revision }) => `${key}@${revision}`),
          );
        }

        for (const [revision, expected] of past) {
          const found = [...(store.shelf(pods).rangeAt(revision, {}) ?? [])];
          expect(found.map(({ key, revision: at }) => `${key}@${at}`)).toEqual(expected);
        }
      }),
    );
  });
});
