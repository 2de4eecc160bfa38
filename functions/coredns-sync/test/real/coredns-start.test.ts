import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { controller } from '../../sandbox/coredns.ts';
import { ingressOf } from '../world.ts';
import { binary } from '../../../../test/real/parts/cluster.ts';
import { openDnsClient } from './dns/client.ts';
import { reservePorts } from '../../../../test/real/parts/ports.ts';
import { waitUntil } from '../../../../test/real/parts/wait.ts';

const root = join(import.meta.dirname, '../../../..');

it('npm start prints a dig that answers, and a host resolves when its Ingress appears', async () => {
  await using stack = new AsyncDisposableStack();
  const reserved = await reservePorts();
  stack.defer(() => reserved.release());
  const { base } = reserved;
  const ports = ['--port', String(base + 2), '--tls-port', '0', '--api-port', String(base)];
  const child = spawn(process.execPath, ['lib/cli/bin/kube-reflex.ts', 'start', ...ports, 'coredns-sync'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // leads a group, so that its CoreDNS can be ended with it
    env: { ...process.env, PATH: `${dirname(binary('coredns'))}:${process.env['PATH'] ?? ''}` },
  });
  const ended = once(child, 'exit') as Promise<[code: number | null]>;
  stack.defer(() => killGroup(child));
  const [port, host] = await printedDig(child.stdout, ended);
  using dns = await openDnsClient(port);
  async function resolves(name: string): Promise<boolean> {
    return (await dns.ask(name)).records.some(({ data }) => data === controller.spec.clusterIP);
  }
  await waitUntil(`${host} resolves`, () => resolves(host));
  const before = await resolves('appears.example.com');
  const created = await fetch(`http://127.0.0.1:${base + 1}/apis/networking.k8s.io/v1/namespaces/shop/ingresses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ingressOf('appears', ['appears.example.com'])),
  });
  await waitUntil('the host of the new Ingress resolves', () => resolves('appears.example.com'));
  const status = await fetch(`http://127.0.0.1:${base + 2}/coredns-sync/status`);
  const { conditions } = (await status.json()) as { conditions: Record<string, string> };
  child.kill('SIGINT');
  const [code] = await ended;

  expect([before, created.status, code]).toEqual([false, 201, 0]);
  expect(Object.keys(conditions)).toEqual(['NotConfigured']); // what a cluster says in which nobody may edit the Corefile
});

/** The lines that come after it are read, too, or the process would wait. */
function printedDig(output: Readable, ended: Promise<[code: number | null]>): Promise<readonly [number, string]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly [port: number, host: string]>();
  const lines: string[] = [];
  createInterface(output).on('line', (line) => {
    lines.push(line);
    const [, port, host = ''] = /dig @127\.0\.0\.1 -p (\d+) (\S+) \+short/.exec(line) ?? [];
    if (port !== undefined) {
      resolve([Number(port), host]);
    }
  });
  ended.then(([code]) => reject(new Error(`npm start ended with ${code}:\n${lines.join('\n')}`)), reject);
  return promise;
}

/** Whatever is left of it. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) {
      process.kill(-pid, 'SIGKILL');
    }
  } catch {
    // nobody is left
  }
}
