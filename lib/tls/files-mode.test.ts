import { Agent } from 'node:https';
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mutatingWebhooks, type MutatingWebhookConfiguration } from '../kube/resource.ts';
import type { Issued } from '../x509.ts';
import { certificatesIn, type KeyPair } from './certificate.ts';
import { ask, handshake, shownBy } from '../../test/tls/client.ts';
import { mintAuthority, mintPair, mountPair } from '../../test/tls/mint.ts';
import {
  configurationName,
  configurationObject,
  host,
  openSite,
  type Replica,
  type Site,
} from '../../test/tls/site.ts';

let site: Site;
let authority: Issued;

beforeEach(async () => {
  site = await openSite();
  authority = await mintAuthority(site.now());
});

afterEach(() => site.close());

async function freshPair(by = authority, days = 90): Promise<KeyPair> {
  return mintPair(by, { now: site.now(), host, days });
}

/** A replica that shows a first certificate which the cluster has trusted for long. */
async function settled(): Promise<Replica> {
  const replica = await site.replica('files');
  mountPair(replica.directory, await freshPair());
  await replica.poll();
  site.pass(3600);
  return replica;
}

function printOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

function trustedPrints(): string[] {
  return certificatesIn(site.trusted(), 'caBundle').map(({ fingerprint256 }) => fingerprint256);
}

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

  it('NA-45 keeps the old leaf when key and leaf are of different generations, and tells it once', async () => {
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

  it('lets a replica that starts amid a rotation wait, since its neighbours are trusted', async () => {
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

  it('shows a new certificate at once where the old one has expired', async () => {
    const replica = await site.replica('files');
    mountPair(replica.directory, await freshPair(authority, 1));
    await replica.poll();
    site.pass(2 * 86_400);
    const next = await freshPair(await mintAuthority(site.now()));

    mountPair(replica.directory, next);
    await replica.poll();

    expect(await shownBy(replica)).toBe(printOf(next.cert));
  });

  it('asks the API server for nothing while nothing changes', async () => {
    const replica = await settled();
    const before = replica.calls.length;

    await replica.poll();
    await replica.poll();

    expect(replica.calls.length).toBe(before);
  });
});

/** What cert-manager's injector does. */
async function inject(ca: string): Promise<void> {
  const [foreign, own] = structuredClone(site.configuration().webhooks ?? []);
  const caBundle = Buffer.from(ca).toString('base64');
  const injected = { ...own, clientConfig: { ...own?.clientConfig, caBundle } };
  await site.sandbox.api.update(mutatingWebhooks, {
    ...site.configuration(),
    webhooks: [foreign, injected],
  } as MutatingWebhookConfiguration);
}

describe('the bundle', () => {
  it('NA-47 is all that is written: foreign entries and other fields stay, and are not claimed', async () => {
    const before = structuredClone(site.configuration());
    await settled();
    const after = site.configuration();
    const [foreign, own] = after.webhooks ?? [];

    expect(foreign).toEqual(before.webhooks?.[0]);
    expect({ ...own, clientConfig: { service: own?.clientConfig.service } }).toEqual(before.webhooks?.[1]);
    const managed = after.metadata?.managedFields?.find(({ manager }) => manager === 'kube-reflex.dev/gate');
    expect((managed?.fieldsV1 as { readonly 'f:webhooks': object })['f:webhooks']).toEqual({
      'k:{"name":"own.gate.kube-reflex.dev"}': { 'f:clientConfig': { 'f:caBundle': {} } },
    });
  });

  it('NA-48 is restored after somebody cleared it; a second look writes nothing', async () => {
    const replica = await settled();
    const trusted = site.trusted();
    await inject('');

    await replica.upkeep();
    expect(site.trusted()).toBe(trusted);

    const version = site.configuration().metadata?.resourceVersion;
    await replica.upkeep();
    expect(site.configuration().metadata?.resourceVersion).toBe(version);
    expect(await replica.metrics()).toContain('cabundle_in_sync{configuration="kube-reflex-gate"} 1');
  });

  it('NA-49 may come later than the webhook: it is ready, and publishes when there is something to publish to', async () => {
    await site.sandbox.api.remove(mutatingWebhooks, { name: configurationName });
    const replica = await settled();
    expect(replica.serving.generation).toBeDefined();

    await site.sandbox.api.create(mutatingWebhooks, configurationObject());
    await replica.upkeep();

    expect(await ask(replica, site.trusted())).toBe(200);
  });

  it.each([409, 429, 500] as const)(
    'NA-50 is published in the end although the API answers %s for a while',
    async (code) => {
      const replica = await settled();
      const next = await freshPair(await mintAuthority(site.now()));
      mountPair(replica.directory, next);
      site.sandbox.faults.add({ verb: 'patch', times: 3, effect: { do: 'refuse', status: code } });

      for (let look = 1; look <= 4; look += 1) {
        await replica.poll();
        expect(await ask(replica, site.trusted())).toBe(200);
      }
      site.pass(16);
      await replica.poll();

      expect(await shownBy(replica)).toBe(printOf(next.cert));
      expect(await ask(replica, site.trusted())).toBe(200);
    },
  );

  it('NA-51 is never written in cert-manager mode; that it lacks the authority can be seen', async () => {
    const replica = await site.replica('cert-manager');
    mountPair(replica.directory, await freshPair());
    await replica.poll();
    await replica.upkeep();

    expect(site.trusted()).toBe('');
    expect(replica.calls.filter(({ verb }) => verb !== 'get')).toEqual([]);
    expect(await replica.metrics()).toContain('cabundle_in_sync{configuration="kube-reflex-gate"} 0');
  });

  it('NA-51 makes a leaf of cert-manager wait until its injector has published the authority', async () => {
    const replica = await site.replica('cert-manager');
    mountPair(replica.directory, await freshPair());
    await replica.poll();
    await inject(authority.certificate);
    const before = await shownBy(replica);
    const successor = await mintAuthority(site.now());
    const next = await freshPair(successor);

    mountPair(replica.directory, next);
    await replica.poll();
    expect(await shownBy(replica)).toBe(before);

    await inject(successor.certificate + authority.certificate);
    await replica.poll();

    expect(await shownBy(replica)).toBe(printOf(next.cert));
  });

  it('forgets an old authority a day later, when every replica has been seen with a new one', async () => {
    const replica = await settled();
    const next = await freshPair(await mintAuthority(site.now()));
    mountPair(replica.directory, next);
    await site.route(replica);
    await replica.poll();
    site.pass(86_400);
    await replica.upkeep();
    expect(trustedPrints()).toHaveLength(2); // still shows the old leaf

    await replica.poll();
    await replica.upkeep();

    expect(trustedPrints()).toEqual([printOf(next.ca)]);
    expect(await ask(replica, site.trusted())).toBe(200);
  });

  it('forgets an authority at once when an operator says that its key has leaked', async () => {
    const replica = await settled();
    mountPair(replica.directory, await freshPair(await mintAuthority(site.now())));
    await replica.poll();
    const leaked = printOf(authority.certificate);
    const { metadata, ...rest } = site.configuration();
    await site.sandbox.api.update(mutatingWebhooks, {
      ...rest,
      metadata: { ...metadata, annotations: { ...metadata?.annotations, 'gate.kube-reflex.dev/retire-now': leaked } },
    });

    await replica.upkeep();

    expect(trustedPrints()).not.toContain(leaked);
    expect(trustedPrints()).toHaveLength(1);
  });
});
