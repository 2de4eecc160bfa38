import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { binaryEvent, send, type Received, type Sent } from '../support/http.ts';

interface Line {
  readonly msg: string;
  readonly urls?: readonly string[];
}

let child: ChildProcess;
let output: Interface;
let url: URL;
const lines: Line[] = [];

beforeAll(async () => {
  child = spawn(process.execPath, ['lib/programs/dead-letters.ts'], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const listening = Promise.withResolvers<URL>();
  output = createInterface({ input: child.stdout ?? process.stdin }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    if (line.urls?.[0] !== undefined) {
      listening.resolve(new URL(line.urls[0]));
    }
  });
  url = await listening.promise;
});

afterAll(() => {
  child.kill('SIGKILL');
});

/** An event as a Broker hands it over when it has given up. */
function letter(code: string, said: string): Sent {
  const place = { kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'shop', name: 'web' };
  const event = binaryEvent({ type: 'dev.knative.apiserver.ref.add', ...place, data: { token: 'of no concern' } });
  const added = {
    'ce-knativeerrordest': 'http://coredns-sync.kube-reflex.svc.cluster.local',
    'ce-knativeerrorcode': code,
    'ce-knativeerrordata': Buffer.from(said).toString('base64'),
  };
  return { ...event, headers: { ...event.headers, ...added } };
}

/** The answer to a letter, once its line is there too: it comes by another way. */
async function post(sent: Sent): Promise<Received> {
  const before = lines.length;
  const answer = await send(url, sent);
  while (lines.length === before) {
    await once(output, 'line');
  }
  return answer;
}

it('logs of each letter what it was about, who refused it and why, and never its data', async () => {
  const { status, body } = await post(letter('503', 'unavailable: the API server\nis away\n'));

  expect({ status, body }).toEqual({ status: 204, body: '' });
  expect(lines.at(-1)).toMatchObject({
    msg: 'dead letter',
    type: 'dev.knative.apiserver.ref.add',
    object: 'Ingress shop web',
    sentTo: 'http://coredns-sync.kube-reflex.svc.cluster.local',
    code: 503,
    said: 'unavailable: the API server\nis away',
  });
  expect(JSON.stringify(lines)).not.toContain('of no concern');
});

it('counts letters by the status they were refused with, and takes no word for one', async () => {
  await post(letter('422', 'impossible: no such thing'));
  await post(letter('422%22%7D%201%0Aforged', 'impossible'));

  const { body } = await send(url, { method: 'GET', path: '/metrics' });
  const counted = body.match(/^kube_reflex_dead_letters_total.*$/gm) ?? [];
  expect(counted.filter((line) => !line.endsWith(' 0')).sort()).toEqual([
    'kube_reflex_dead_letters_total{code="422"} 1',
    'kube_reflex_dead_letters_total{code="503"} 1',
    'kube_reflex_dead_letters_total{code="none"} 1',
  ]);
});

it('counts from 0, so that an alert sees the first letter of a status', async () => {
  const { body } = await send(url, { method: 'GET', path: '/metrics' });

  expect(body).toContain('kube_reflex_dead_letters_total{code="400"} 0');
});

it.each([
  ['data that is no JSON', {}, '{"broken'],
  ['an attribute that no event may have', { 'ce-specversion': '7' }, '{}'],
])('logs a letter that was refused for %s', async (_fault, headers, body) => {
  const sent = letter('400', 'malformed');

  const { status } = await post({ headers: { ...sent.headers, ...headers }, body });

  expect(status).toBe(204);
  expect(lines.at(-1)).toMatchObject({ msg: 'dead letter', object: 'Ingress shop web', code: 400, said: 'malformed' });
});

it('refuses what is no event, is healthy, and ends with 0 when asked to', async () => {
  const junk = await send(url, { body: 'hello' });
  const health = await send(url, { method: 'GET', path: '/health/readiness' });
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];

  expect([junk.status, health.status, code]).toEqual([400, 200, 0]);
});
