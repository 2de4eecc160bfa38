import { mutatingWebhooks, secrets, type Secret } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { configurationName, openSite, type Replica, type Site } from '../../tls/site.ts';
import { objectsOf, restore, type Captured, type Kept } from '../kept.ts';

const dayMs = 86_400_000;
const secretName = 'gate-certificates';
const start = new Date('2026-01-05T00:00:00Z');

function openAt(time: Date): Promise<Site> {
  return openSite((Date.now() - time.getTime()) / dayMs);
}

/** The kept cluster at the time when it was kept. */
export async function openKept(kept: Kept): Promise<Site> {
  const site = await openAt(kept.at);
  restore(site.sandbox, kept);
  return site;
}

export function secretOf({ sandbox }: Site): Secret {
  return sandbox.api.get(secrets, secretName, 'kube-reflex') as Secret;
}

export function phaseOf(site: Site): string | undefined {
  return secretOf(site).metadata?.annotations?.['gate.kube-reflex.dev/tls-phase'];
}

/** A tick of the only replica: its duties first, then a look for its certificate. */
export async function tick({ upkeep, poll }: Replica): Promise<void> {
  await upkeep();
  await poll();
}

/** A rotation of the authority, up to the moment when this phase has begun. */
async function upTo(phase: string): Promise<Captured> {
  const site = await openAt(start);
  try {
    const replica = await site.replica('self');
    await site.route(replica);
    await tick(replica);
    if (phase !== 'stable') {
      site.pass((250 * dayMs) / 1000);
    }
    for (let ticks = 0; ticks < 10 && phaseOf(site) !== phase; ticks += 1) {
      await tick(replica);
      site.pass(phaseOf(site) === 'switch' && phase !== 'switch' ? dayMs / 1000 : 60);
    }
    return captured(site);
  } finally {
    await site.close();
  }
}

function captured({ sandbox, now }: Site): Captured {
  function only({ metadata }: KubeObject): boolean {
    return [secretName, configurationName].includes(metadata?.name ?? '');
  }
  return { at: now(), settings: {}, objects: objectsOf(sandbox, { kinds: [secrets, mutatingWebhooks], only }) };
}

export const scenarios: Readonly<Record<string, () => Promise<Captured>>> = Object.fromEntries(
  ['stable', 'prepublish', 'switch', 'retire'].map((phase) => [phase, () => upTo(phase)]),
);
