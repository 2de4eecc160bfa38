import type { X509Certificate } from 'node:crypto';
import type { Secret } from '../kube/model/resource.ts';
import { examine, fingerprint, sameCertificate, type Generation } from './certificate.ts';
import { configurationsOf, loadPair, ownSecret, placeOf, type Found, type Keeper } from './keeper.ts';
import { measuresOf } from './measures.ts';
import { answersFor, replicasOf } from './probe.ts';
import { publish, viewsOf } from './publish.ts';
import { nextMove, type Facts } from './self-move.ts';
import { moveStep } from './self-secret.ts';
import { phases, stateOf, type SelfState } from './self-state.ts';
import { ownEntries, recordOf, retireNow, trusts } from './webhooks.ts';

/**
 * One pass of the events role: advances the rotation by at most one step, repairs bundles, and retires old authorities.
 */
export async function upkeep(keeper: Keeper): Promise<void> {
  const found = await configurationsOf(keeper);
  const generation = keeper.mode === 'self' ? await advance(keeper, found) : await mounted(keeper);
  const { inSync, authorityExpiry } = measuresOf(keeper.context.metrics);
  for (const { name } of keeper.targets) {
    inSync.set(0, { configuration: name });
  }
  if (generation === undefined) {
    keeper.context.log.warn({ mode: keeper.mode }, 'could not publish an authority: there is no certificate');
    return;
  }
  authorityExpiry.set(generation.authority.validToDate.getTime() / 1000);
  const wanted = generation.authorities;
  const published =
    keeper.mode === 'cert-manager'
      ? found
      : await publish(keeper, found, { wanted, mayRetire: await retirement(keeper, found, generation) });
  const { authority } = generation;
  for (const { target, configuration } of published) {
    const synced = trusts(configuration, { target, owner: keeper.owner, authority });
    inSync.set(synced ? 1 : 0, { configuration: target.name });
  }
}

/** The mounted key pair, if replicas would use it. */
async function mounted(keeper: Keeper): Promise<Generation | undefined> {
  const pair = await loadPair(keeper);
  return pair === undefined ? undefined : examine(pair, { now: keeper.context.now(), host: keeper.host });
}

/** Advances the rotation of the Secret, if it is time. */
async function advance(keeper: Keeper, found: readonly Found[]): Promise<Generation | undefined> {
  const { context, owner, host } = keeper;
  const secret = await ownSecret(keeper);
  if (secret === undefined) {
    return undefined;
  }
  const now = context.now();
  const state = stateOf(secret, { now, host, name: owner.name });
  const move = await nextMove(state, factsOf(keeper, found, state));
  if (move === undefined) {
    return measured(keeper, state);
  }
  const [outcome] = await context.kube.run({
    steps: [await moveStep(secret, state, { move, place: placeOf(keeper), now })],
  });
  const moved = (outcome?.object ?? secret) as Secret;
  return measured(keeper, stateOf(moved, { now, host, name: owner.name }));
}

function measured({ context: { metrics } }: Keeper, { phase, generation }: SelfState): Generation | undefined {
  for (const each of phases) {
    measuresOf(metrics).phase.set(each === phase ? 1 : 0, { phase: each });
  }
  return generation;
}

function factsOf(keeper: Keeper, found: readonly Found[], { bundle }: SelfState): Facts {
  const { context, owner } = keeper;
  return {
    now: context.now(),
    propagationMs: context.config.CA_PROPAGATION_SECONDS * 1000,
    retireMs: context.config.CA_RETIRE_SECONDS * 1000,
    trustedSince: (authority) => trustedSince(keeper, found, authority),
    shownEverywhere: (authority) => shownEverywhere(keeper, authority),
    othersTrusted: found.some((each) =>
      published(each, owner).some((one) => !bundle.some((other) => sameCertificate(one, other))),
    ),
  };
}

/** Since when all our entries trust it; `undefined` if one does not. Without entries, all of them do. */
function trustedSince(keeper: Keeper, found: readonly Found[], authority: X509Certificate): Date | undefined {
  const views = viewsOf(keeper, found, authority);
  return views.every(({ trusted }) => trusted.some((one) => sameCertificate(one, authority)))
    ? new Date(Math.max(0, ...views.map(({ since }) => since?.getTime() ?? 0)))
    : undefined;
}

async function shownEverywhere({ context, owner, host }: Keeper, authority: X509Certificate): Promise<boolean> {
  const replicas = await replicasOf(context.kube, owner);
  const answers = await Promise.all(
    replicas.map((replica) => answersFor(replica, { serverName: host, ca: String(authority) })),
  );
  const behind = answers.filter((answer) => !answer).length;
  if (behind > 0) {
    context.log.info(
      { replicas: replicas.length, behind },
      'old authorities stay until every replica uses the new one',
    );
  }
  return replicas.length > 0 && behind === 0;
}

/** Our authorities that the entries of a configuration trust. */
function published({ target, configuration }: Found, owner: Keeper['owner']): X509Certificate[] {
  const record = recordOf(configuration, owner);
  return ownEntries(configuration, target, owner)
    .flatMap(({ trusted }) => trusted)
    .filter((one) => record.has(fingerprint(one)));
}

/**
 * Which authorities may be removed: older ones, if the current one has been published long enough and every replica
 * uses it.
 */
async function retirement(
  keeper: Keeper,
  found: readonly Found[],
  { authority, authorities }: Generation,
): Promise<(authority: X509Certificate) => boolean> {
  const { context, owner } = keeper;
  const leaked = new Set(found.map(({ configuration }) => retireNow(configuration, owner)));
  const due = found.flatMap((each) => {
    const record = recordOf(each.configuration, owner);
    const since = record.get(fingerprint(authority))?.getTime() ?? Infinity;
    const ripe = context.now().getTime() >= since + context.config.CA_RETIRE_SECONDS * 1000;
    return published(each, owner).filter(
      (one) =>
        ripe &&
        !authorities.some((other) => sameCertificate(one, other)) &&
        (record.get(fingerprint(one))?.getTime() ?? Infinity) < since,
    );
  });
  const mayGo = due.length > 0 && (await shownEverywhere(keeper, authority)) ? due : [];
  return (one) => leaked.has(fullFingerprint(one)) || mayGo.some((other) => sameCertificate(one, other));
}

function fullFingerprint({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}
