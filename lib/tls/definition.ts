import * as z from 'zod/mini';
import type { ConfigSchema } from '../function/config.ts';
import type { Context, Definition, Kept, Loop } from '../function/definition.ts';
import type { Handler, Tick, Watch } from '../function/triggers.ts';
import type { Site } from '../function/names.ts';
import { secrets } from '../kube/model/resource.ts';
import type { Keeper } from './keeper.ts';
import { phaseAnnotation } from './marks.ts';
import { modeOf } from './mode.ts';
import { certificatePermissions } from './permissions.ts';
import { tlsSettings, type TlsConfig } from './settings.ts';
import { targetsOf, type Target } from './webhooks.ts';

type Settings<C> = C & TlsConfig;

/**
 * Adds to a definition with `admit` what its certificate needs, so that the function itself has no code for it.
 *
 * | part          | addition                                                         |
 * | ------------- | ---------------------------------------------------------------- |
 * | `config`      | `TLS_MODE`, `TLS_SECRET` and the other settings of `tlsSettings` |
 * | `permissions` | the webhook configurations, and in mode `self` the Secret        |
 * | `on`, `tick`  | watches of the webhook configurations; a part of the tick        |
 * | `loops`       | a poll for new certificates, in the admission role               |
 * | `keeps`       | the Secret, if the function issues its own certificate           |
 *
 * Other definitions are returned as they are.
 */
export function withCertificate<C>(definition: Definition<C>): Definition<Settings<C>> {
  const { name, admit } = definition;
  if (admit === undefined) {
    return definition as Definition<Settings<C>>;
  }

  function targetsFor(config: Settings<C>, site: Site): Target[] {
    return modeOf(config) === 'none' ? [] : targetsOf(name, admit?.(config, site) ?? []);
  }

  async function keep(context: Context<Settings<C>>, work: (keeper: Keeper) => Promise<void>): Promise<void> {
    const mode = modeOf(context.config);
    if (mode !== 'none') {
      const { keeperOf } = await import('./keeper.ts');
      await work(keeperOf(context, { name, mode, targets: targetsFor(context.config, context) }));
    }
  }

  function upkeep(context: Context<Settings<C>>): Promise<void> {
    return keep(context, async (keeper) => (await import('./upkeep.ts')).upkeep(keeper));
  }

  const poll: Loop<Settings<C>> = {
    name: 'certificate',
    role: 'admission',
    everyMs: ({ CERT_POLL_SECONDS }) => CERT_POLL_SECONDS * 1000,
    run: (context) => keep(context, async (keeper) => (await import('./poll.ts')).pollCertificate(keeper)),
  };

  return {
    ...definition,
    config: extended(definition.config, name),
    on: (config, site) => [...(definition.on?.(config, site) ?? []), ...watchesOf(targetsFor(config, site), upkeep)],
    tick: tickWith(definition.tick, upkeep),
    loops: [...(definition.loops ?? []), poll],
    permissions: (config, site) => [
      ...(definition.permissions?.(config, site) ?? []),
      ...certificatePermissions(modeOf(config), { secret: config.TLS_SECRET, targets: targetsFor(config, site) }),
    ],
    keeps: (config, site) => [...(definition.keeps?.(config, site) ?? []), ...ownSecret(config, site, name)],
  };
}

/** Only a certificate that the function issued is its own. After its workload is gone, the mode is unknown. */
function ownSecret(config: TlsConfig, { namespace }: Site, name: string): Kept[] {
  const mark = phaseAnnotation(name);
  return modeOf(config) === 'self' ? [{ resource: secrets, name: config.TLS_SECRET, namespace, mark }] : [];
}

/** Schemas of zod and of zod/mini can be extended alike, but their types differ. */
function extended<C>(schema: ConfigSchema<C>, name: string): ConfigSchema<Settings<C>> {
  return z.safeExtend(schema as unknown as z.ZodMiniObject, tlsSettings(name)) as unknown as ConfigSchema<Settings<C>>;
}

/** Repairs a cleared bundle at once instead of at the next tick. */
function watchesOf<C>(targets: readonly Target[], handle: Handler<C>): Watch<C>[] {
  const kinds = Map.groupBy(targets, ({ resource }) => resource);
  return [...kinds].map(([resource, group]) => ({
    resource,
    mode: 'Reference',
    scope: 'cluster',
    names: group.map(({ name }) => name),
    handle,
  }));
}

const standardSchedule = '*/5 * * * *';

/** Runs both even if one fails; a failure of either fails the tick. */
function tickWith<C>(tick: Tick<C> | undefined, upkeep: Handler<C>): Tick<C> {
  return {
    schedule: tick?.schedule ?? standardSchedule,
    handle: async (context, wake) => {
      const ends = await Promise.allSettled([tick?.handle(context, wake), upkeep(context, wake)]);
      for (const end of ends) {
        if (end.status === 'rejected') {
          throw end.reason;
        }
      }
    },
  };
}
