import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mutatingWebhooks, type MutatingWebhookConfiguration } from '../../lib/kube/model/resource.ts';
import type { Issued } from '../../lib/base/x509.ts';
import { ask, shownBy } from './client.ts';
import { mintAuthority, mountPair } from './mint.ts';
import { openRotation, printOf, type Rotation } from './rotation.ts';
import { configurationName, configurationObject, type Site } from './site.ts';

let site: Site;
let authority: Issued;
let freshPair: Rotation['freshPair'];
let settled: Rotation['settled'];
let trustedPrints: Rotation['trustedPrints'];

beforeEach(async () => {
  ({ site, authority, freshPair, settled, trustedPrints } = await openRotation());
});

afterEach(() => site.close());

/** Writes the bundle as cert-manager's injector does. */
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
    expect(trustedPrints()).toHaveLength(2); // still uses the old leaf

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
