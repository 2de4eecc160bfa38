import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listPage, type Page } from './list.ts';
import type { ListQuery } from './list-options.ts';
import { ApiError } from '../model/status.ts';
import { createStore, type Store } from '../store/store.ts';
import { anyKind } from '../test/kind.ts';

const things = anyKind();

function query(fields: Partial<ListQuery> = {}): ListQuery {
  return { labels: [], fields: [], limit: 0, wantsBookmarks: false, ...fields };
}

function put(store: Store, name: string): void {
  store.put(things, { metadata: { name, namespace: 'a' } }, store.get(things, name, 'a'));
}

function keys({ items }: Page): string[] {
  return items.map(({ key }) => key);
}

function thrown(work: () => unknown): ApiError | undefined {
  try {
    work();
  } catch (error) {
    return error instanceof ApiError ? error : undefined;
  }
  return undefined;
}

describe('listPage', () => {
  it('shows one state over all pages, whatever is written in between', () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 12 });
    fc.assert(
      fc.property(names, names, fc.integer({ min: 1, max: 4 }), (before, between, limit) => {
        const store = createStore();
        before.forEach((name) => put(store, name));
        const whole = keys(listPage(store, things, query()));

        const seen: string[] = [];
        let page = listPage(store, things, query({ limit }));
        seen.push(...keys(page));
        while (page.continueAt !== undefined) {
          between.forEach((name) => put(store, `${name}x`));
          between.forEach((name) => put(store, name));
          page = listPage(store, things, query({ limit, continueAt: page.continueAt }));
          seen.push(...keys(page));
        }

        expect(seen).toEqual(whole);
      }),
    );
  });

  it('says how many follow, unless something is selected', () => {
    const store = createStore();
    ['a', 'b', 'c'].forEach((name) => put(store, name));
    const labels = [{ key: 'x', operator: '!', values: [] }] as const;

    expect(listPage(store, things, query({ limit: 2 })).remaining).toBe(1);
    expect(listPage(store, things, query({ limit: 2, labels })).remaining).toBeUndefined();
  });

  it('offers to go on inconsistently once the history is forgotten', () => {
    const store = createStore();
    ['a', 'b', 'c'].forEach((name) => put(store, name));
    const { continueAt = '' } = listPage(store, things, query({ limit: 1 }));
    put(store, 'd');
    store.compact();

    const refusal = thrown(() => listPage(store, things, query({ continueAt })));
    const { metadata } = refusal?.status ?? {};

    expect(refusal?.code).toBe(410);
    expect(keys(listPage(store, things, query({ continueAt: String(metadata?.['continue']) })))).toEqual([
      'a/b',
      'a/c',
      'a/d',
    ]);
  });

  it.each(['nonsense', Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":""}').toString('base64url')])(
    'refuses the token %s',
    (continueAt) => {
      expect(thrown(() => listPage(createStore(), things, query({ continueAt })))?.code).toBe(400);
    },
  );

  it('refuses a revision of the future', () => {
    expect(thrown(() => listPage(createStore(), things, query({ resourceVersion: 99 })))?.code).toBe(504);
  });
});
