import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { certificatesIn } from '../../lib/tls/certificate.ts';
import { acceptedAt, shownBy } from '../tls/client.ts';
import type { Replica, Site } from '../tls/site.ts';
import { keptBy, type Kept } from './kept.ts';
import { openKept, phaseOf, secretOf, tick } from './scenarios/tls.ts';

const order = ['prepublish', 'switch', 'retire', 'stable'];
let site: Site;

afterEach(() => site.close());

function kept(...phases: readonly string[]): readonly Kept[] {
  return phases.flatMap((phase) => keptBy('tls', phase));
}

function keptCertificate(): string {
  const text = Buffer.from(secretOf(site).data?.['tls.crt'] ?? '', 'base64').toString();
  return new X509Certificate(text).fingerprint256;
}

async function newReplica(): Promise<Replica> {
  const replica = await site.replica('self');
  await replica.poll();
  await site.route(replica);
  return replica;
}

describe('a certificate of its own that a version left', () => {
  it.each(kept('stable', ...order.slice(0, 3)))(
    '$version $scenario: is shown at once, and nobody makes another',
    async (left) => {
      site = await openKept(left);
      const certificate = keptCertificate();

      const replica = await newReplica();

      expect(await shownBy(replica)).toBe(certificate);
      expect(await acceptedAt(site.now(), replica, site.trusted())).toBe(true);
      expect(keptCertificate()).toBe(certificate);
      expect(replica.calls.filter(({ verb }) => verb !== 'get')).toEqual([]);
    },
  );

  it.each(kept('stable'))('$version $scenario: stays as it is while nothing is due', async (left) => {
    site = await openKept(left);
    const replica = await newReplica();

    await tick(replica);

    expect(replica.calls.filter(({ verb }) => verb !== 'get')).toEqual([]);
  });

  it.each(kept(...order.slice(0, 3)))(
    '$version $scenario: its rotation goes on from there to its end, and a client of the published bundle never fails',
    async (left) => {
      site = await openKept(left);
      const replica = await newReplica();
      const bundle = site.trusted();
      const seen = [phaseOf(site)];
      for (let ticks = 0; ticks < 10 && seen.at(-1) !== 'stable'; ticks += 1) {
        site.pass(phaseOf(site) === 'switch' ? 86_400 : 60);
        await tick(replica);
        expect(await acceptedAt(site.now(), replica, bundle)).toBe(true);
        expect(await acceptedAt(site.now(), replica, site.trusted())).toBe(true);
        if (phaseOf(site) !== seen.at(-1)) {
          seen.push(phaseOf(site));
        }
      }

      expect(seen).toEqual(order.slice(order.indexOf(left.scenario)));
      expect(certificatesIn(site.trusted(), 'caBundle')).toHaveLength(1);
    },
  );
});
