import { standardBudget } from '../../lib/base/retry.ts';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { Definition } from '../../lib/function/definition.ts';
import type { Handler } from '../../lib/function/triggers.ts';
import { Failure, handling, type FailureKind } from '../../lib/base/failure.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { binaryEvent, noCluster, send, startApp, structuredEvent, type Received } from '../support/http.ts';
import { environmentOf, functionsUnderTest } from './functions.ts';
import { batch, tick } from './sent.ts';
import census from '../functions/host-census/index.ts';

const definitions = await functionsUnderTest();

const kinds = Object.keys(handling) as FailureKind[];

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  '%s when its handler fails',
  (_name, definition) => {
    it.each(kinds.filter((kind) => kind !== 'conflict'))('answers a failure of kind %s by the table', async (kind) => {
      let tries = 0;
      const app = await failing(definition, () => {
        tries += 1;
        return Promise.reject(new Failure(kind, 'on purpose', { retryAfter: 7 }));
      });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      const { status, retry } = handling[kind];
      expect(answer.status).toBe(status);
      expect(answer.headers['retry-after']).toBe(retry ? '7' : undefined);
      expect(answer.body).toBe(`${kind}: on purpose\n`);
      expect(tries).toBe(1);
    });

    it('reports an unexpected error as a bug, returns no detail of it, and stays as ready as before', async () => {
      const app = await failing(definition, () => Promise.reject(new TypeError('secret detail')));
      const readiness = { method: 'GET', path: '/health/readiness' };

      const before = await send(app.url, readiness);
      const answer = await send(app.url, binaryEvent(tick));
      const { status, body } = await send(app.url, readiness);
      await app.close();

      expect(answer).toMatchObject({ status: 500, body: 'bug: unexpected error\n' });
      expect({ status, body }).toEqual({ status: before.status, body: before.body });
    });

    it('starts over from its reads when it lost an optimistic lock', async () => {
      let tries = 0;
      const app = await failing(definition, () => {
        tries += 1;
        return tries < 3 ? Promise.reject(new Failure('conflict', 'lost')) : Promise.resolve();
      });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      expect(answer.status).toBe(204);
    });

    it('turns away what it can neither run nor queue, with 503 and Retry-After', async () => {
      const gate = Promise.withResolvers<void>();
      const app = await failing(definition, () => gate.promise, { MAX_RUNNING: '1', MAX_WAITING: '5' });

      const all = Promise.withResolvers<void>();
      const refused: Received[] = [];
      const pending = Array.from({ length: 50 }, async () => {
        const answer = await send(app.url, binaryEvent(tick));
        if (answer.status === 503 && refused.push(answer) === 44) {
          all.resolve();
        }
        return answer;
      });
      await all.promise;
      gate.resolve();
      const answers = await Promise.all(pending);
      await app.close();

      expect(refused[0]).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(6);
      expect(answers.filter(({ status }) => status === 503)).toHaveLength(44);
    });

    it('handles what is well formed in a batch, and answers 400 for the rest', async () => {
      let runs = 0;
      const app = await failing(definition, () => {
        runs += 1;
        return Promise.resolve();
      });
      const events = [structuredEvent(tick), { specversion: '1.0' }];

      const answer = await send(app.url, { ...batch([]), body: JSON.stringify(events) });
      const crowd = await send(app.url, {
        ...batch([]),
        body: JSON.stringify(Array.from({ length: 501 }, () => events[0])),
      });
      await app.close();

      expect(answer).toMatchObject({ status: 400, body: 'malformed: event attribute id is missing\n' });
      expect(crowd).toMatchObject({ status: 400, body: 'malformed: a batch may hold at most 500 events\n' });
      expect(runs).toBe(1);
    });

    it('answers 422 to events in the admission role', async () => {
      const app = await failing(definition, () => Promise.resolve(), { ROLE: 'admission' });

      const answer = await send(app.url, binaryEvent(tick));
      await app.close();

      expect(answer.status).toBe(422);
      expect(answer.body).toContain('admission only');
    });

    it('fails a batch as a whole when one of its events must be sent again', async () => {
      const app = await failing(definition, () => Promise.reject(new Failure('unavailable', 'later')));

      const answer = await send(app.url, batch([{ type: 'com.example.unknown' }, tick]));
      await app.close();

      expect(answer.status).toBe(503);
    });
  },
);

// The same for every function, and slow: once is enough.
describe('a function whose handler fails or never ends', () => {
  it('gives up on a lock that it loses again and again', async () => {
    let tries = 0;
    const app = await failing(census, () => {
      tries += 1;
      return Promise.reject(new Failure('conflict', 'on purpose', { retryAfter: 7 }));
    });

    const answer = await send(app.url, binaryEvent(tick));
    await app.close();

    expect(answer).toMatchObject({ status: handling.conflict.status, body: 'conflict: on purpose\n' });
    expect(answer.headers['retry-after']).toBe('7');
    expect(tries).toBe(standardBudget.tries);
  });

  it('answers 503 when a run takes too long, and stays at one run at a time', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const app = await failing(
      census,
      async () => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
      },
      { TIMEOUT_SECONDS: '1' },
    );

    const answers = await Promise.all([send(app.url, binaryEvent(tick)), send(app.url, binaryEvent(tick))]);
    gate.resolve();
    await app.close();

    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(most).toBe(1);
  });

  it('gives work for later a context of its own, which outlives the run that asked for it', async () => {
    const aborted = Promise.withResolvers<boolean>();
    const app = await failing(
      census,
      ({ later, now, signal }) => {
        later('flush', new Date(now().getTime() + 1_500), (context) => {
          aborted.resolve(context.signal.aborted || !signal.aborted);
          return Promise.resolve();
        });
        return Promise.resolve();
      },
      { TIMEOUT_SECONDS: '1' },
    );

    const answer = await send(app.url, binaryEvent(tick));
    const isAborted = await aborted.promise;
    await app.close();

    expect(answer.status).toBe(204);
    expect(isAborted).toBe(false);
  });

  it('frees its lane from a handler that never ends', async () => {
    let runs = 0;
    const app = await failing(
      census,
      () => {
        runs += 1;
        return runs === 1 ? new Promise(() => undefined) : Promise.resolve();
      },
      { TIMEOUT_SECONDS: '1' },
    );

    const statuses: number[] = [];
    while (statuses.at(-1) !== 204) {
      statuses.push((await send(app.url, binaryEvent(tick))).status);
    }
    await app.close();

    expect(statuses[0]).toBe(503);
    expect(runs).toBe(2);
  });

  it('does not wait for connections that never say anything when it ends', async () => {
    const app = await failing(census, () => Promise.resolve());
    const silent = connect(Number(app.url.port), '127.0.0.1');
    await once(silent, 'connect');
    await send(app.url, binaryEvent(tick));

    await app.close();

    expect(silent.destroyed || (await once(silent, 'close')).length > 0).toBe(true);
  });
});

/** The app of the function with its tick handled by `handle`: the surface is the function's, the failure ours. */
function failing(
  definition: Definition,
  handle: Handler<unknown>,
  environment: Record<string, string> = {},
): Promise<Running> {
  const changed = { ...definition, tick: { schedule: '* * * * *', handle }, loops: [] };
  return startApp(changed, {
    access: noCluster,
    environment: { ...environmentOf(definition), ROLE: 'events', ...environment },
  });
}
