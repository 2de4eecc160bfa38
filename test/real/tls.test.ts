import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintAuthority, mintPair } from '../tls/mint.ts';
import { startLoad } from '../tls/load.ts';
import { binaryEvent, send } from '../http.ts';
import type { RealFunction } from './function.ts';
import { host, openTlsSite, readPhase, routeTo, seedAgedSecret, type TlsSite } from './tls-site.ts';
import { waitUntil } from './wait.ts';

const patience = 120_000;
const path = '/validate?timeout=3s';
const review = JSON.stringify({
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request: { uid: 'u-1', operation: 'CREATE', object: { kind: 'Ingress', metadata: { name: 'shop' } } },
});

const running = new AsyncDisposableStack();
let site: TlsSite;
let trusted = '';

/** What an API server knows of the bundle: what it was a moment ago. */
async function follow(until: () => boolean): Promise<void> {
  while (!until()) {
    trusted = await site.readTrusted();
    await pause(20);
  }
}

beforeAll(async () => {
  site = running.use(await openTlsSite());
}, patience);

afterAll(() => running.disposeAsync());

describe('certificates from files on a real API server', () => {
  it(
    'NA-46 NA-43 twenty rotations at 300 reviews a second fail none of them',
    async () => {
      let authority = await mintAuthority(new Date());
      const replicas: RealFunction[] = [];
      const first = await mintPair(authority, { now: new Date(), host });
      for (const replica of [0, 1]) {
        site.mount(replica, first);
        replicas.push(await site.startReplica(replica, { TLS_MODE: 'files' }));
      }
      let over = false;
      trusted = await site.readTrusted();
      const following = follow(() => over);
      const idle = await Promise.all([30, 60, 85].map((seconds) => openIdle(seconds)));
      const load = startLoad({ ports: site.ports, host, path, body: review, perSecond: 300, trusted: () => trusted });
      for (let rotation = 1; rotation <= 20; rotation += 1) {
        authority = rotation % 2 === 0 ? await mintAuthority(new Date()) : authority;
        const pair = await mintPair(authority, { now: new Date(), host });
        site.mount(0, pair);
        if (rotation % 4 >= 2) {
          await shows(0, pair.cert); // the other node's kubelet is late
        }
        site.mount(1, pair);
        await Promise.all([shows(0, pair.cert), shows(1, pair.cert)]);
      }
      await load.stop();
      over = true;
      await following;
      await Promise.all(idle.map((use) => use()));
      opensslAgrees();
      await Promise.all(replicas.map(({ running: replica }) => replica.stop()));

      expect({ failures: load.failures, unanswered: load.unanswered() }).toEqual({ failures: [], unanswered: 0 });
      expect(load.answered()).toBeGreaterThan(2_000);
      expect(trusted.startsWith(authority.certificate.trim())).toBe(true);
    },
    4 * patience,
  );
});

describe('a certificate of our own on a real API server', () => {
  it(
    'NA-52 is rotated to the end although a replica is killed in each phase, and every handshake succeeds',
    async () => {
      const environment = { TLS_MODE: 'self', CA_RETIRE_SECONDS: '1' };
      await seedAgedSecret(site);
      await routeTo(site, site.ports);
      const events = await site.startEvents({ CA_PROPAGATION_SECONDS: '1', ...environment });
      const replicas = [await site.startReplica(0, environment), await site.startReplica(1, environment)];
      let over = false;
      trusted = await site.readTrusted();
      const following = follow(() => over);
      const down = new Set<number | undefined>();
      const load = startLoad({
        ports: site.ports,
        host,
        path,
        body: review,
        perSecond: 50,
        trusted: () => trusted,
        isReady: (port) => !down.has(port),
      });
      const seen: (string | undefined)[] = [];
      while (seen.length < 2 || seen.at(-1) !== 'stable') {
        const victim = seen.length % 2;
        await send(events.url, binaryEvent({ type: 'dev.knative.sources.ping' }));
        const phase = await readPhase(site);
        if (phase !== seen.at(-1)) {
          seen.push(phase);
          await replicas[victim]?.running.stop('SIGKILL');
          down.add(site.ports[victim]);
          replicas[victim] = await site.startReplica(victim, environment);
          down.clear();
        }
      }
      await load.stop();
      over = true;
      await following;

      expect(seen.filter((phase) => phase !== undefined)).toEqual(['prepublish', 'switch', 'retire', 'stable']);
      expect(load.failures).toEqual([]);
      expect(trusted.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
      opensslAgrees();
    },
    4 * patience,
  );
});

/** A kept connection that is used once, and again when it has been idle for so long. */
async function openIdle(seconds: number): Promise<() => Promise<void>> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: trusted });
  const [port] = site.ports;
  async function use(): Promise<unknown> {
    const request = https.request({ host: '127.0.0.1', port, servername: host, path, method: 'POST', agent });
    request.setHeader('content-type', 'application/json');
    request.end(review);
    const [response] = (await once(request, 'response')) as [
      { readonly resume: () => void; readonly statusCode?: number },
    ];
    response.resume();
    await once(response as unknown as https.Server, 'end');
    expect(response.statusCode).toBe(200);
    return request.socket;
  }
  const socket = await use();
  const since = performance.now();
  return async () => {
    await waitUntil(`${seconds} s have passed`, () => performance.now() - since >= seconds * 1000, 2 * patience);
    expect(await use()).toBe(socket);
    agent.destroy();
  };
}

/** Waits until new connections to a replica get this certificate. */
async function shows(replica: number, certificate: string): Promise<void> {
  await waitUntil(`replica ${replica} shows the new certificate`, async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: site.ports[replica],
      servername: host,
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const shown = socket.getPeerX509Certificate()?.toString().trim();
    socket.destroy();
    return shown === certificate.trim();
  });
}

/** The judgement of another implementation. */
function opensslAgrees(): void {
  const file = join(site.cluster.site.directory, 'trusted.pem');
  writeFileSync(file, trusted);
  for (const port of site.ports) {
    const asked = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', host, '-verify_hostname', host];
    const shown = execFileSync('openssl', [...asked, '-CAfile', file, '-verify_return_error', '-showcerts'], {
      input: '',
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(shown).toContain('Verify return code: 0 (ok)');
    expect(shown).toMatch(/TLSv1\.3/);
    const leaf = join(site.cluster.site.directory, 'leaf.pem');
    writeFileSync(leaf, /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(shown)?.[0] ?? '');
    expect(
      execFileSync('openssl', ['verify', '-purpose', 'sslserver', '-CAfile', file, leaf], { encoding: 'utf8' }),
    ).toBe(`${leaf}: OK\n`);
  }
}
