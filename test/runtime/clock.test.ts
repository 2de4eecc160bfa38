import { afterEach, expect, it } from '@jest/globals';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { defineFunction } from '../../lib/runtime/define.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import hostCensus from '../functions/host-census/index.ts';
import { send, startApp } from '../support/http.ts';

const hour = 3_600_000;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The function's time before and after a call, in hours behind, on a machine that is an hour behind. */
async function times(clock: 'machine' | 'server'): Promise<readonly number[]> {
  const sandbox = await startSandbox({ controllers: false });
  const app = await startApp(
    defineFunction({
      name: 'clock',
      summary: 'shows the time',
      config: hostCensus.config,
      clock,
      routes: [
        {
          method: 'GET',
          path: '/times',
          handle: async (_request, { kube, now }) => {
            const before = now().getTime();
            await kube.get(configMaps, { namespace: 'default', name: 'none' });
            return { body: [before, now().getTime()] };
          },
        },
      ],
    }),
    {
      access: kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)),
      now: () => new Date(Date.now() - hour),
    },
  );
  closing.push(
    () => app.close(),
    () => sandbox.close(),
  );
  async function read(): Promise<readonly number[]> {
    return JSON.parse((await send(app.url, { method: 'GET', path: '/times' })).body) as number[];
  }
  return [...(await read()), ...(await read())].map((time) => Math.round((Date.now() - time) / hour));
}

it("is this machine's unless the definition asks for the API server's", async () => {
  expect(await times('machine')).toEqual([1, 1, 1, 1]);
});

it("is the API server's from its first answer on, also for later requests", async () => {
  expect(await times('server')).toEqual([1, 0, 0, 0]);
});
