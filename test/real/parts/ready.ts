import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command, Running } from './processes.ts';

export interface Probe {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Regular expression that the body must match; any 2xx body otherwise. */
  readonly body?: RegExp;
}

/** A program to run and how to check that it serves. */
export interface Service {
  readonly command: Command;
  readonly probe?: Probe;
  readonly port?: number;
}

const patienceMs = 240_000;

/** Waits until a program answers its probe; fails at once, naming the log, when the program ends instead. */
export async function untilReady(running: Running, probe: Probe): Promise<void> {
  const deadline = performance.now() + patienceMs;
  const ended = running.ended.then((how) => {
    throw new Error(`${running.name} ended before it was ready (${how}); see ${running.log}`);
  });
  ended.catch(() => undefined); // also ends after it was ready, which is no failure of this wait
  while (!(await Promise.race([answers(probe), ended]))) {
    if (performance.now() > deadline) {
      throw new Error(`${running.name} is not ready after ${patienceMs / 1000} s; see ${running.log}`);
    }
    await Promise.race([pause(50), ended]);
  }
}

function answers({ url, headers = {}, body = /./ }: Probe): Promise<boolean> {
  return new Promise((resolve) => {
    const open = url.startsWith('https:') ? secure : plain;
    // The program has only just made its certificate; whether it speaks is all that is asked here.
    const outgoing = open(url, { headers, rejectUnauthorized: false, timeout: 2000, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', () => resolve(false));
      incoming.on('end', () => {
        const code = incoming.statusCode ?? 0;
        resolve(code >= 200 && code < 300 && body.test(Buffer.concat(chunks).toString('utf8')));
      });
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(false));
    outgoing.end();
  });
}
