import { afterEach, describe, expect, it } from '@jest/globals';
import type { Definition } from '../../lib/function/definition.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { startSandbox } from '../../lib/sandbox/sandbox.ts';
import hostCensus from '../functions/host-census/index.ts';
import { binaryEvent, noCluster, send, startApp, type AppOptions } from '../support/http.ts';
import { environmentOf, functionsUnderTest } from './functions.ts';
import { tick } from './sent.ts';

const names = ['start', 'last_tick', 'last_success'] as const;
const startedAt = 1_700_000_000;
const definitions = await functionsUnderTest();
let running = new AsyncDisposableStack();

afterEach(async () => {
  await running.disposeAsync();
  running = new AsyncDisposableStack();
});

/** Starts a function whose clock is at hand, and reads what it shows of the times that matter to alerts. */
async function start(
  definition: Definition,
  options: Partial<AppOptions>,
): Promise<{ url: URL; clock: { seconds: number }; times: () => Promise<Readonly<Record<string, number>>> }> {
  const clock = { seconds: startedAt };
  const app = await startApp(definition, { access: noCluster, now: () => new Date(clock.seconds * 1000), ...options });
  running.defer(() => app.close());
  async function times(): Promise<Readonly<Record<string, number>>> {
    const { body } = await send(app.url, { method: 'GET', path: '/metrics' });
    const values = names.map((name) => [name, valueIn(body, `kube_reflex_${name}_timestamp_seconds`)] as const);
    return Object.fromEntries(values.filter((each): each is [(typeof names)[number], number] => each[1] !== undefined));
  }
  return { url: app.url, clock, times };
}

function valueIn(metrics: string, name: string): number | undefined {
  const [, value] = new RegExp(`^${name}\\{function="[a-z-]+"\\} (\\S+)$`, 'm').exec(metrics) ?? [];
  return value === undefined ? undefined : Number(value);
}

describe.each(definitions.map((definition) => [definition.name, definition] as const))('%s', (_name, definition) => {
  it('shows since when it waits for ticks before the first has come', async () => {
    const { times } = await start(definition, { environment: { ...environmentOf(definition), ROLE: 'events' } });

    expect(await times()).toEqual({ start: startedAt });
  });
});

it('shows the last tick and the last success beside its start', async () => {
  const sandbox = await startSandbox();
  running.defer(() => sandbox.close());
  const access = kubeconfigAccess(JSON.stringify(sandbox.kubeconfig));
  const { url, clock, times } = await start(hostCensus, { access, environment: { ROLE: 'events' } });

  clock.seconds += 60;
  await send(url, binaryEvent(tick));

  expect(await times()).toEqual({ start: startedAt, last_tick: startedAt + 60, last_success: startedAt + 60 });
});

it('shows a tick that failed, and no success', async () => {
  const { url, clock, times } = await start(hostCensus, { environment: { ROLE: 'events' } });

  clock.seconds += 60;
  await send(url, binaryEvent(tick));

  expect(await times()).toEqual({ start: startedAt, last_tick: startedAt + 60 });
});

it('waits for no ticks where it only admits', async () => {
  const { times } = await start(hostCensus, { environment: { ROLE: 'admission', TLS_MODE: 'none' } });

  expect(await times()).toEqual({});
});

it('waits for no ticks where its definition asks for none', async () => {
  const { tick: _tick, ...untimed } = hostCensus;
  const { times } = await start(untimed, { environment: { ROLE: 'events' } });

  expect(await times()).toEqual({});
});
