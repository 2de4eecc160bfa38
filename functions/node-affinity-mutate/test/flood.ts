import https from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from '../../../test/support/http.ts';

/** What the worker is told: so many requests at once, each on a connection of its own. */
export interface Flood {
  readonly url: string;
  readonly path: string;
  readonly host: string;
  readonly ca: string;
  readonly body: string;
  readonly requests: number;
}

/** A thread of its own, so that who sends large bodies holds up nobody else on this side. */
const { url, path, host, ca, body, requests } = workerData as Flood;

async function one(): Promise<string> {
  const agent = new https.Agent({ ca, servername: host });
  try {
    const headers = { 'content-type': 'application/json' };
    return String((await send(new URL(url), { path, headers, body, agent })).status);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? error);
  } finally {
    agent.destroy();
  }
}

parentPort?.postMessage(await Promise.all(Array.from({ length: requests }, one)));
