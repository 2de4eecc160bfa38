import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Status } from '../render.ts';
import { send } from '../../../test/support/http.ts';

interface Line {
  readonly msg?: string;
  readonly urls?: readonly string[];
}

let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill('SIGKILL');
});

/** What `npm start -- istio-rollout` writes when it is piped, line by line. */
async function* started(): AsyncIterable<Line> {
  const args = [
    'lib/cli/bin/kube-reflex.ts',
    'start',
    '--port',
    '0',
    '--tls-port',
    '0',
    '--api-port',
    '0',
    'istio-rollout',
  ];
  const env = { ...process.env, ISTIO_ROLLOUT_ISTIOD_CONFIG_READ_DELAY: '1s' };
  const spawned = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  child = spawned;
  for await (const line of createInterface({ input: spawned.stdout })) {
    yield JSON.parse(line) as Line;
  }
}

interface Wave {
  readonly inFlight: readonly string[];
  readonly restarted: number;
}

/** What a table in the log tells; undefined for any other line. */
function waveIn({ msg = '' }: Line): Wave | undefined {
  const [, , , ...rows] = msg.split('\n'); // an empty line, the counts, the heads
  const cells = rows.map((row) => row.split(/ {2,}/));
  return msg.includes('WORKLOAD')
    ? {
        inFlight: cells.filter(([, state]) => state === 'InFlight').map(([workload = '']) => workload),
        restarted: cells.filter(([, state]) => state === 'Restarted').length,
      }
    : undefined;
}

async function statusAt(lines: readonly Line[]): Promise<Status> {
  const [base = ''] = lines.flatMap(({ urls = [] }) => urls);
  return JSON.parse((await send(new URL(base), { method: 'GET', path: '/istio-rollout/status' })).body) as Status;
}

describe('npm start', () => {
  it('shows a rollout in waves with a built-in injector, as a table in the log and as JSON', async () => {
    const lines: Line[] = [];
    const waves: Wave[] = [];
    let status: Status | undefined;
    for await (const line of started()) {
      lines.push(line);
      const wave = waveIn(line);
      if (wave?.inFlight.length === 2) {
        waves.push(wave);
        status ??= await statusAt(lines);
      }
      if (waves.at(-1)?.restarted === 2) {
        break; // the second wave has begun
      }
    }

    const inFlight = waves.map((wave) => wave.inFlight);
    expect(lines.map(({ msg }) => msg)).toContain('no istiod here: a small built-in injector stands in for it');
    expect([inFlight.at(0), inFlight.at(-1)]).toEqual([
      ['Deployment bank/ledger', 'Deployment shop/cart'],
      ['Deployment bank/payments', 'Deployment shop/web'],
    ]);
    expect(status?.counts).toMatchObject({ inflight: 2, queued: 3 });
    expect(status?.workloads).toContainEqual(
      expect.objectContaining({ name: 'cart', code: 'InFlight', current: expect.stringContaining('1.28.4') }),
    );
  });
});
