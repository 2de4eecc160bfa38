import type { X509Certificate } from 'node:crypto';
import { asFailure } from '../base/failure.ts';
import { fingerprint } from './certificate.ts';
import type { Found, Keeper } from './keeper.ts';
import { measuresOf } from './measures.ts';
import type { View } from './order.ts';
import { ownEntries, publishStep, recordOf } from './webhooks.ts';

export interface Wish {
  readonly wanted: readonly X509Certificate[];
  readonly mayRetire: (authority: X509Certificate) => boolean;
}

/** Writes the bundles of our entries. Returns the configurations after the write. */
export async function publish(keeper: Keeper, found: readonly Found[], wish: Wish): Promise<Found[]> {
  const { context, owner } = keeper;
  const { patches } = measuresOf(context.metrics);
  const published: Found[] = [];
  for (const { target, configuration } of found) {
    const step = publishStep(configuration, { target, owner, wish: { ...wish, now: context.now() } });
    if (step === undefined) {
      published.push({ target, configuration });
      continue;
    }
    try {
      const [outcome] = await context.kube.run({ steps: [step] });
      patches.add(1, { result: 'ok' });
      published.push({ target, configuration: outcome?.object ?? configuration });
    } catch (error) {
      patches.add(1, { result: asFailure(error).kind });
      throw error;
    }
  }
  return published;
}

/** What each of our entries trusts, and since when it trusts this authority. */
export function viewsOf({ owner }: Keeper, found: readonly Found[], authority: X509Certificate): View[] {
  return found.flatMap(({ target, configuration }) => {
    const since = recordOf(configuration, owner).get(fingerprint(authority));
    return ownEntries(configuration, target, owner).map(({ trusted }) => ({ trusted, since }));
  });
}
