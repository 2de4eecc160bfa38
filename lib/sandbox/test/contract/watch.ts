import { describe, expect, it } from '@jest/globals';
import type { Target } from './client.ts';
import { configMap } from './samples.ts';
import { useScratch, type Scratch } from './scratch.ts';
import { openWatch, type Watch, type WatchEvent } from './watching.ts';

/** Watches: order, resuming, selectors, bookmarks, ends. */
export function watchCases(target: () => Target): void {
  describe('watch', () => {
    const scratch = useScratch(target, { settled: true });

    async function listVersion({ call, path }: Scratch): Promise<string> {
      const list = await call('GET', path('configmaps'));
      return list.body.metadata?.resourceVersion ?? '';
    }

    async function watching<T>(query: Readonly<Record<string, string>>, use: (watch: Watch) => Promise<T>): Promise<T> {
      const { client, path } = scratch();
      const watch = await openWatch(client, path('configmaps'), query);
      try {
        return await use(watch);
      } finally {
        watch.close();
      }
    }

    async function take(watch: Watch, count: number): Promise<[string | undefined, string | undefined][]> {
      const events: (WatchEvent | undefined)[] = [];
      while (events.length < count) {
        events.push(await watch.change());
      }
      return events.map((event) => [event?.type, event?.object.metadata?.name]);
    }

    it('begins with what exists when no resourceVersion is given', async () => {
      const { create } = scratch();
      await create('configmaps', configMap('existing', {}, { labels: { w: 'existing' } }));

      const seen = await watching({ labelSelector: 'w=existing' }, (watch) => take(watch, 1));

      expect(seen).toEqual([['ADDED', 'existing']]);
    });

    it('sends the changes after a resourceVersion, in order', async () => {
      const { call, create, patch, path } = scratch();
      const resourceVersion = await listVersion(scratch());
      await create('configmaps', configMap('life', { a: '1' }));
      await patch('merge', path('configmaps', 'life'), { data: { a: '2' } });
      await call('DELETE', path('configmaps', 'life'));

      const seen = await watching({ resourceVersion, fieldSelector: 'metadata.name=life' }, (watch) => take(watch, 3));

      expect(seen).toEqual([
        ['ADDED', 'life'],
        ['MODIFIED', 'life'],
        ['DELETED', 'life'],
      ]);
    });

    it('resumes after the resourceVersion of an event without repeating it', async () => {
      const { create } = scratch();
      const made = await create('configmaps', configMap('resume-1'));
      await create('configmaps', configMap('resume-2'));

      const seen = await watching({ resourceVersion: made.metadata?.resourceVersion ?? '' }, (watch) => take(watch, 1));

      expect(seen).toEqual([['ADDED', 'resume-2']]);
    });

    it('sends whole objects with kind, apiVersion and their resourceVersion', async () => {
      const { create } = scratch();
      const resourceVersion = await listVersion(scratch());
      const made = await create('configmaps', configMap('whole', { a: '1' }));

      const event = await watching({ resourceVersion }, (watch) => watch.change());

      expect(event?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } });
      expect(event?.object.metadata).toEqual(made.metadata);
    });

    it('shows an object that comes into a selector as ADDED and one that leaves it as DELETED', async () => {
      const { create, patch, path } = scratch();
      await create('configmaps', configMap('comes', {}, { labels: { in: 'no' } }));
      const resourceVersion = await listVersion(scratch());
      await patch('merge', path('configmaps', 'comes'), { metadata: { labels: { in: 'yes' } } });
      await patch('merge', path('configmaps', 'comes'), { data: { a: '1' } });
      await patch('merge', path('configmaps', 'comes'), { metadata: { labels: { in: 'no' } } });

      const seen = await watching({ resourceVersion, labelSelector: 'in=yes' }, (watch) => take(watch, 3));

      expect(seen).toEqual([
        ['ADDED', 'comes'],
        ['MODIFIED', 'comes'],
        ['DELETED', 'comes'],
      ]);
    });

    it('gives a deletion the resourceVersion of the deletion', async () => {
      const { call, create, path } = scratch();
      const made = await create('configmaps', configMap('deleted'));
      await call('DELETE', path('configmaps', 'deleted'));

      const event = await watching({ resourceVersion: made.metadata?.resourceVersion ?? '' }, (watch) =>
        watch.change(),
      );

      expect(event?.type).toBe('DELETED');
      const version = Number(event?.object.metadata?.resourceVersion);
      expect(version).toBeGreaterThan(Number(made.metadata?.resourceVersion));
    });

    it('delivers what happens while it is open', async () => {
      const { create } = scratch();
      const resourceVersion = await listVersion(scratch());

      const seen = await watching({ resourceVersion }, async (watch) => {
        await create('configmaps', configMap('live'));
        return take(watch, 1);
      });

      expect(seen).toEqual([['ADDED', 'live']]);
    });

    it('ends by itself after timeoutSeconds', async () => {
      const resourceVersion = await listVersion(scratch());

      const event = await watching({ resourceVersion, timeoutSeconds: '1' }, (watch) => watch.change());

      expect(event).toBeUndefined();
    });

    it('ends the initial events of a streaming list with a bookmark that says so', async () => {
      const { create } = scratch();
      await create('configmaps', configMap('streamed', {}, { labels: { w: 'streamed' } }));
      const query = {
        labelSelector: 'w=streamed',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
      };

      const [first, second] = await watching(query, async (watch) => [await watch.next(), await watch.next()]);

      expect([first?.type, first?.object.metadata?.name]).toEqual(['ADDED', 'streamed']);
      expect(second?.type).toBe('BOOKMARK');
      expect(second?.object.metadata?.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(second?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    });

    it('refuses sendInitialEvents without resourceVersionMatch', async () => {
      const { call, path } = scratch();

      const reply = await call('GET', path('configmaps'), { query: { watch: true, sendInitialEvents: true } });

      expect(reply.code).toBe(422);
      expect(reply.body.details?.causes?.[0]?.message).toBe(
        'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    });

    it('watches one object by name', async () => {
      const { create } = scratch();
      await create('configmaps', configMap('one-of-two'));
      await create('configmaps', configMap('two-of-two'));

      const seen = await watching({ fieldSelector: 'metadata.name=two-of-two' }, (watch) => take(watch, 1));

      expect(seen).toEqual([['ADDED', 'two-of-two']]);
    });

    it('watches all namespaces', async () => {
      const { client, create, namespace } = scratch();
      const resourceVersion = await listVersion(scratch());
      await create('configmaps', configMap('anywhere', {}, { labels: { w: namespace } }));

      const watch = await openWatch(client, '/api/v1/configmaps', { resourceVersion, labelSelector: `w=${namespace}` });
      const event = await watch.change();
      watch.close();

      expect(event?.object.metadata).toMatchObject({ name: 'anywhere', namespace });
    });
  });
}
