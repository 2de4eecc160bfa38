import { afterEach, describe, expect, it } from '@jest/globals';
import type { Running } from '../../lib/runtime/main.ts';
import { noCluster, send, startApp } from '../support/http.ts';
import hostCensus from '../functions/host-census/index.ts';
import { defineFunction } from '../../lib/runtime/define.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';

const running: Running[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ close }) => close()));
});

describe('context.memory', () => {
  it('keeps one value for all requests of an instance and another for each other instance', async () => {
    const [one, other] = [await start(counting()), await start(counting())];

    expect([await count(one), await count(one), await count(other)]).toEqual(['1', '2', '1']);
  });

  it('keeps the values of two instances of one definition apart', async () => {
    const definition = counting();
    const [one, other] = [await start(definition), await start(definition)];

    expect([await count(one), await count(other), await count(one)]).toEqual(['1', '1', '2']);
  });
});

function counting(): Definition {
  const requests = memoryKey(() => ({ seen: 0 }));
  return defineFunction({
    name: 'counting',
    summary: 'counts requests',
    config: hostCensus.config,
    routes: [
      {
        method: 'GET',
        path: '/count',
        handle: (_request, context) => ({ body: String((context.memory(requests).seen += 1)) }),
      },
    ],
  });
}

async function start(definition: Definition): Promise<Running> {
  const app = await startApp(definition, { access: noCluster });
  running.push(app);
  return app;
}

async function count({ url }: Running): Promise<string> {
  return (await send(url, { method: 'GET', path: '/count' })).body.trim();
}
