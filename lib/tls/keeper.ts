import type { Context } from '../function/definition.ts';
import { secrets, type Secret } from '../kube/model/resource.ts';
import type { KeyPair } from './certificate.ts';
import { readKeyPair } from './files.ts';
import { firstSecret, type Place } from './self-secret.ts';
import { pairOf } from './self-state.ts';
import type { TlsConfig, TlsMode } from './settings.ts';
import type { Configuration, Owner, Target } from './webhooks.ts';

/** Everything that the certificate of one function depends on. */
export interface Keeper {
  readonly context: Context<TlsConfig>;
  readonly mode: TlsMode;
  readonly owner: Owner;
  readonly targets: readonly Target[];
  /** The name that the API server checks. */
  readonly host: string;
}

export interface KeeperOptions {
  readonly name: string;
  readonly mode: TlsMode;
  readonly targets: readonly Target[];
}

export function keeperOf(context: Context<TlsConfig>, { name, mode, targets }: KeeperOptions): Keeper {
  const { config, namespace } = context;
  const service = config.WEBHOOK_SERVICE;
  return {
    context,
    mode,
    owner: { name, service, namespace },
    targets,
    host: `${service}.${namespace}.svc`,
  };
}

/** An existing webhook configuration, and which of its entries are ours. */
export interface Found {
  readonly target: Target;
  readonly configuration: Configuration;
}

export async function configurationsOf({ context: { kube }, targets }: Keeper): Promise<Found[]> {
  const found = await Promise.all(
    targets.map(async (target) => ({ target, configuration: await kube.get(target.resource, { name: target.name }) })),
  );
  return found.flatMap(({ target, configuration }) => (configuration === undefined ? [] : [{ target, configuration }]));
}

/** The key pair to use; `undefined` if there is none yet. */
export async function loadPair(keeper: Keeper): Promise<KeyPair | undefined> {
  if (keeper.mode !== 'self') {
    return readKeyPair(keeper.context.config.CERT_DIR);
  }
  const secret = await ownSecret(keeper);
  return secret === undefined ? undefined : pairOf(secret);
}

/** The Secret of mode `self`; creates it if there is none, except in a dry run. */
export async function ownSecret(keeper: Keeper): Promise<Secret | undefined> {
  const { kube, now } = keeper.context;
  const place = placeOf(keeper);
  const existing = await kube.get(secrets, { namespace: place.namespace, name: place.secret });
  if (existing !== undefined) {
    return existing;
  }
  // If another replica was faster, this is a conflict, and the retry reads its Secret.
  const [made] = await kube.run({ steps: [await firstSecret(place, now())] });
  return made?.object;
}

export function placeOf({ context, owner }: Keeper): Place {
  return { ...owner, secret: context.config.TLS_SECRET };
}
