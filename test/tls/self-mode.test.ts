import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { secrets, type Secret } from '../../lib/kube/model/resource.ts';
import { certificatesIn } from '../../lib/tls/certificate.ts';
import { phases } from '../../lib/tls/self-state.ts';
import { acceptedAt, shownBy } from './client.ts';
import { mintAuthority } from './mint.ts';
import { openSite, type Replica, type Site } from './site.ts';

let site: Site;

beforeEach(async () => {
  site = await openSite(251);
});

afterEach(() => site.close());

const day = 86_400;
const garbled = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

function secret(): Secret | undefined {
  return site.sandbox.api.get(secrets, 'gate-certificates', 'kube-reflex');
}

function files(): Record<string, string> {
  return Object.fromEntries(Object.keys(secret()?.data ?? {}).map((name) => [name, file(name)]));
}

function file(name: string): string {
  return Buffer.from(secret()?.data?.[name] ?? '', 'base64').toString();
}

function phase(): string | undefined {
  return secret()?.metadata?.annotations?.['gate.kube-reflex.dev/tls-phase'];
}

/** A tick: a pass of the events role, then a poll of every replica. */
async function tick(replicas: readonly Replica[]): Promise<void> {
  const [first] = replicas;
  await first?.upkeep();
  for (const replica of replicas) {
    await replica.poll();
  }
}

describe('a certificate of our own', () => {
  it('is issued by the first replica, and used by all', async () => {
    const replicas = await Promise.all([site.replica('self'), site.replica('self')]);

    await Promise.allSettled(replicas.map(({ poll }) => poll()));
    await Promise.all(replicas.map(({ poll }) => poll()));

    const [one, other] = await Promise.all(replicas.map(shownBy));
    expect(one).toBe(other);
    expect(site.sandbox.api.list(secrets)).toHaveLength(1);
    expect(secret()?.type).toBe('kubernetes.io/tls');
    for (const replica of replicas) {
      expect(await acceptedAt(site.now(), replica, site.trusted())).toBe(true);
    }
  });

  it('passes openssl verify as a server certificate for the Service', async () => {
    await (await site.replica('self')).poll();
    const directory = mkdtempSync(join(tmpdir(), 'issued-'));
    for (const name of ['tls.crt', 'ca.crt']) {
      writeFileSync(join(directory, name), file(name));
    }
    const names = ['gate-webhook.kube-reflex.svc', 'gate-webhook.kube-reflex.svc.cluster.local'];
    const verify = ['verify', '-x509_strict', '-purpose', 'sslserver'];
    const time = String(Math.floor(site.now().getTime() / 1000));
    const answers = names.map((name) =>
      execFileSync('openssl', [...verify, '-attime', time, '-verify_hostname', name, '-CAfile', 'ca.crt', 'tls.crt'], {
        cwd: directory,
        encoding: 'utf8',
      }),
    );
    rmSync(directory, { recursive: true });

    expect(answers).toEqual(['tls.crt: OK\n', 'tls.crt: OK\n']);
  });

  it('is already valid for clocks that are an hour late, and never outlives its authority', async () => {
    await (await site.replica('self')).poll();
    const [leaf, authority] = [new X509Certificate(file('tls.crt')), new X509Certificate(file('ca.crt'))];

    expect(leaf.validFromDate.getTime()).toBeLessThanOrEqual(site.now().getTime() - 3_590_000);
    expect(leaf.validToDate.getTime()).toBeLessThanOrEqual(authority.validToDate.getTime());
    expect(authority.ca).toBe(true);
  });

  it('NA-53 is renewed by the same authority at two thirds of its life, and the bundle stays', async () => {
    const replica = await site.replica('self');
    await tick([replica]);
    const [before, trusted, authority] = [await shownBy(replica), site.trusted(), file('ca.crt')];
    site.pass(59 * day);
    await tick([replica]);
    expect(await shownBy(replica)).toBe(before);

    site.pass(2 * day); // 29 of 90 days are left
    await tick([replica]);

    expect(await shownBy(replica)).not.toBe(before);
    expect([site.trusted(), file('ca.crt')]).toEqual([trusted, authority]);
    expect(await acceptedAt(site.now(), replica, trusted)).toBe(true);
  });

  it('writes nothing while nothing is due', async () => {
    const replica = await site.replica('self');
    await tick([replica]);
    await tick([replica]);
    const before = replica.calls.length;

    await tick([replica]);

    expect(new Set(replica.calls.slice(before).map(({ verb }) => verb))).toEqual(new Set(['get']));
  });

  it('is issued again when the Secret is deleted, and clients that trust the old authority never fail', async () => {
    const replica = await site.replica('self');
    await tick([replica]);
    const before = site.trusted();
    await site.sandbox.api.remove(secrets, { name: 'gate-certificates', namespace: 'kube-reflex' });

    await tick([replica]);
    expect(await acceptedAt(site.now(), replica, before)).toBe(true);
    expect(certificatesIn(site.trusted(), 'caBundle')).toHaveLength(2);

    site.pass(16);
    await tick([replica]);
    expect(await acceptedAt(site.now(), replica, file('ca.crt'))).toBe(true);
  });

  it.each([
    ['nothing of it is a certificate', () => ({ 'tls.crt': 'x', 'tls.key': 'x', 'ca.crt': 'x' })],
    ['ca.crt is garbled', () => ({ 'ca.crt': garbled })],
    ['ca.crt is empty', () => ({ 'ca.crt': '' })],
    ['ca.crt is missing', () => ({ 'ca.crt': undefined })],
    ['tls.crt is garbled', () => ({ 'tls.crt': garbled })],
    ['the key is garbled', () => ({ 'tls.key': garbled.replaceAll('CERTIFICATE', 'PRIVATE KEY') })],
    ['the key is another', async () => ({ 'tls.key': (await mintAuthority(site.now())).key })],
  ])('is repaired when %s, and clients that trust the published bundle never fail', async (_what, spoil) => {
    const replica = await site.replica('self');
    await tick([replica]);
    const spoilt = Object.entries<string | undefined>({ ...files(), ...(await spoil()) });
    const data = Object.fromEntries(
      spoilt.flatMap(([name, text]) => (text === undefined ? [] : [[name, Buffer.from(text).toString('base64')]])),
    ) as Secret['data'];
    await site.sandbox.api.update(secrets, { ...secret(), data } as Secret);

    for (let ticks = 0; ticks < 2; ticks += 1) {
      await tick([replica]);
      expect(await acceptedAt(site.now(), replica, site.trusted())).toBe(true);
      site.pass(16);
    }
    await tick([replica]);

    expect(await acceptedAt(site.now(), replica, file('ca.crt'))).toBe(true);
  });
});

describe('a rotation of our own authority', () => {
  it('NA-52 goes through its phases, and no client that trusts the published bundle ever fails', async () => {
    const replicas = [await site.replica('self'), await site.replica('self')];
    await site.route(...replicas);
    const seen = await rotate(replicas, (current) => Promise.resolve(current));

    expect(seen).toEqual([...phases, 'stable']);
    expect(certificatesIn(site.trusted(), 'caBundle')).toHaveLength(1);
  });

  it('NA-52 is completed by others when every replica is killed in each phase', async () => {
    const first = [await site.replica('self'), await site.replica('self')];
    await site.route(...first);
    const seen = await rotate(first, async (dead) => {
      await Promise.all(dead.map(({ stop }) => stop()));
      const born = [await site.replica('self'), await site.replica('self')];
      await Promise.all(born.map(({ poll }) => poll()));
      await site.route(...born);
      return born;
    });

    expect(seen).toEqual([...phases, 'stable']);
  });

  it('continues if the writer dies between its two writes', async () => {
    const replicas = [await site.replica('self')];
    await site.route(...replicas);
    site.sandbox.faults.add({ verb: 'patch', effect: { do: 'cut', when: 'after' } });
    const seen = await rotate(replicas, (current) => Promise.resolve(current));

    expect(seen).toEqual([...phases, 'stable']);
  });

  it('lets one of two concurrent writers win, and the other read again', async () => {
    const [one, other] = [await site.replica('self'), await site.replica('self')];
    await tick([one, other]);
    site.pass(250 * day);
    const ends = await Promise.allSettled([one.upkeep(), other.upkeep()]);

    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    expect(new Set(certificatesIn(file('ca.crt'), 'ca.crt').map(String)).size).toBeLessThanOrEqual(2);
    await tick([one, other]);
    expect(await acceptedAt(site.now(), one, site.trusted())).toBe(true);
  });
});

/**
 * Ages the authority until it is due, then ticks until the rotation is over; after each phase other replicas may
 * continue.
 */
async function rotate(
  replicas: readonly Replica[],
  next: (current: readonly Replica[]) => Promise<readonly Replica[]>,
): Promise<(string | undefined)[]> {
  let current = replicas;
  await quietly(current);
  site.pass(250 * day);
  await quietly(current); // the leaf is due earlier, so it is renewed first
  site.pass(60);
  const seen = [phase()];
  for (let ticks = 0; ticks < 20 && !(seen.length > 1 && seen.at(-1) === 'stable'); ticks += 1) {
    await quietly(current);
    for (const replica of current) {
      expect(await replica.problem()).toBeUndefined();
      expect(await acceptedAt(site.now(), replica, site.trusted())).toBe(true);
    }
    if (phase() !== seen.at(-1)) {
      seen.push(phase());
      current = await next(current);
    }
    site.pass(phase() === 'switch' ? 86_400 : 60);
  }
  return seen;
}

/** A tick that may fail; the next one continues. */
async function quietly([first, ...others]: readonly Replica[]): Promise<void> {
  await first?.upkeep().catch(() => undefined);
  for (const replica of [first, ...others]) {
    await replica?.poll().catch(() => undefined);
  }
}
