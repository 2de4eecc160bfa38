import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import freezeCheck from '../../index.ts';
import { helmReleases, kustomizations } from '../../hold/flux.ts';
import { definitionOf } from '../world.ts';
import { installArgoCd } from '../../../../test/real/support/argo-cd.ts';
import { settledAudit } from '../../../../test/real/parts/audit.ts';
import { everything, exerciseEvents, exerciseWebhook, makeObjects } from './freeze-rights.ts';
import { openFreezeSite, shipped, type FreezeSite } from './freeze-site.ts';
import { installRights, type RealFunction } from '../../../../test/real/support/function.ts';
import { applyManifest, type AnyManifest } from '../../../../test/support/manifests.ts';
import { grantedTo, refusedTo, usedBy } from '../../../../test/real/support/rights.ts';

const patience = 300_000;

describe('the rights of freeze-check on the real API server', () => {
  let site: FreezeSite;
  let webhook: RealFunction;
  let events: RealFunction;

  beforeAll(async () => {
    site = await openFreezeSite({ parts: [] });
    await installRights(site.cluster, shipped, everything);
    await installArgoCd(site.client);
    for (const kind of [kustomizations, helmReleases]) {
      await applyManifest(site.client, definitionOf(kind) as AnyManifest);
    }
    await site.configure();
    webhook = await site.startWebhook(everything);
    events = await site.startEvents(1, { environment: everything });
    await makeObjects(site);
  }, patience);

  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  it(
    'are with every feature on exactly what each half uses, and it is refused nothing',
    async () => {
      await exerciseWebhook(site, webhook);
      await exerciseEvents(site, events);

      const audit = await settledAudit(site.cluster, site.client);
      expect([...refusedTo(freezeCheck, 'events', audit), ...refusedTo(freezeCheck, 'webhook', audit)]).toEqual([]);
      expect(usedBy(freezeCheck, 'events', audit, everything)).toEqual(grantedTo(freezeCheck, 'events', everything));
      expect(usedBy(freezeCheck, 'webhook', audit, everything)).toEqual(grantedTo(freezeCheck, 'webhook', everything));
    },
    patience,
  );
});
