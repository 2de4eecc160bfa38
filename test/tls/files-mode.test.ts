import { Agent } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Issued } from '../../lib/base/x509.ts';
import { ask, handshake, shownBy } from './client.ts';
import { mintAuthority, mountPair } from './mint.ts';
import { openRotation, printOf, type Rotation } from './rotation.ts';
import type { Site } from './site.ts';

let site: Site;
let authority: Issued;
let freshPair: Rotation['freshPair'];
let settled: Rotation['settled'];
let trustedPrints: Rotation['trustedPrints'];

beforeEach(async () => {
  ({ site, authority, freshPair, settled, trustedPrints } = await openRotation());
});

afterEach(() => site.close());

describe('a certificate from files', () => {
  it('NA-43 follows each swap of the mounted Secret', async () => {
    const replica = await settled();
    for (let swap = 1; swap <= 3; swap += 1) {
      const next = await freshPair();
      mountPair(replica.directory, next);
      await replica.poll();

      expect(await shownBy(replica)).toBe(printOf(next.cert));
    }
    expect(await replica.metrics()).toContain('kube_reflex_gate_tls_reload_total{result="ok"} 4');
  });

  it('NA-44 publishes a ca.crt that changed alone, and shows the same leaf', async () => {
    const replica = await settled();
    const before = await shownBy(replica);
    const other = await mintAuthority(site.now());
    const { cert, key, ca } = replica.serving.generation ?? (await freshPair());

    mountPair(replica.directory, { cert, key, ca: ca + other.certificate });
    await replica.poll();

    expect(trustedPrints()).toEqual([printOf(other.certificate), printOf(authority.certificate)]);
    expect(await shownBy(replica)).toBe(before);
  });

  it('NA-45 keeps the old leaf when key and leaf are of different generations, and reports it once', async () => {
    const replica = await settled();
    const before = await shownBy(replica);
    const next = await freshPair();

    mountPair(replica.directory, { ...next, cert: replica.serving.generation?.cert ?? '' });
    await replica.poll();
    await replica.poll();

    expect(await shownBy(replica)).toBe(before);
    expect(await replica.metrics()).toContain('tls_reload_total{result="refused"} 1');

    mountPair(replica.directory, next);
    await replica.poll();

    expect(await shownBy(replica)).toBe(printOf(next.cert));
  });

  it('NA-46 publishes a new authority first, and shows its leaf only when it has been trusted for long', async () => {
    const replica = await settled();
    const before = await shownBy(replica);
    const successor = await mintAuthority(site.now());
    const next = await freshPair(successor);

    mountPair(replica.directory, next);
    await replica.poll();
    const trustedAtOnce = trustedPrints();
    const shownAtOnce = await shownBy(replica);
    site.pass(14);
    await replica.poll();
    const shownEarly = await shownBy(replica);
    site.pass(2);
    await replica.poll();

    expect(trustedAtOnce).toEqual([printOf(successor.certificate), printOf(authority.certificate)]);
    expect([shownAtOnce, shownEarly]).toEqual([before, before]);
    expect(await shownBy(replica)).toBe(printOf(next.cert));
    expect(await ask(replica, site.trusted())).toBe(200);
  });

  it('makes a second replica wait for what the first has just published', async () => {
    const [one, other] = [await settled(), await site.replica('files')];
    mountPair(other.directory, await freshPair());
    await other.poll();
    const next = await freshPair(await mintAuthority(site.now()));
    const before = await shownBy(other);
    mountPair(one.directory, next);
    await one.poll();
    site.pass(1);

    mountPair(other.directory, next);
    await other.poll();

    expect(await shownBy(other)).toBe(before);
    site.pass(15);
    await other.poll();
    expect(await shownBy(other)).toBe(printOf(next.cert));
  });

  it('makes a replica that starts during a rotation wait, since the other replicas are trusted', async () => {
    await settled();
    const late = await site.replica('files');
    mountPair(late.directory, await freshPair(await mintAuthority(site.now())));

    await late.poll();
    expect(late.serving.generation).toBeUndefined();

    site.pass(15);
    await late.poll();
    expect(await ask(late, site.trusted())).toBe(200);
  });

  it('NA-42 drops no connection that exists when a certificate is renewed', async () => {
    const replica = await settled();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await ask(replica, site.trusted(), agent);
    const [socket] = Object.values(agent.freeSockets).flat();

    mountPair(replica.directory, await freshPair());
    await replica.poll();
    await ask(replica, site.trusted(), agent);

    expect(Object.values(agent.freeSockets).flat()[0]).toBe(socket);
    agent.destroy();
  });

  it('NA-54 refuses TLS 1.2 before and after a reload', async () => {
    const replica = await settled();
    await expect(handshake(replica.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);

    mountPair(replica.directory, await freshPair());
    await replica.poll();

    await expect(handshake(replica.port, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
  });

  it('uses a new certificate at once if the old one has expired', async () => {
    const replica = await site.replica('files');
    mountPair(replica.directory, await freshPair(authority, 1));
    await replica.poll();
    site.pass(2 * 86_400);
    const next = await freshPair(await mintAuthority(site.now()));

    mountPair(replica.directory, next);
    await replica.poll();

    expect(await shownBy(replica)).toBe(printOf(next.cert));
  });

  it('makes no API calls while nothing changes', async () => {
    const replica = await settled();
    const before = replica.calls.length;

    await replica.poll();
    await replica.poll();

    expect(replica.calls.length).toBe(before);
  });
});
