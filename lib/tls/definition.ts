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
 * A function that admits has a certificate to keep: this adds the settings, rights, events, tick and loop for that, so
 * that manifests, sources and the runtime know of them and the function itself need not.
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

/** Only one that it issued by itself is its own, and once its workload is gone nobody knows the mode any more. */
function ownSecret(config: TlsConfig, { namespace }: Site, name: string): Kept[] {
  const mark = phaseAnnotation(name);
  return modeOf(config) === 'self' ? [{ resource: secrets, name: config.TLS_SECRET, namespace, mark }] : [];
}

/** A schema of zod and one of zod/mini extend alike, which their types don't tell. */
function extended<C>(schema: ConfigSchema<C>, name: string): ConfigSchema<Settings<C>> {
  return z.safeExtend(schema as unknown as z.ZodMiniObject, tlsSettings(name)) as unknown as ConfigSchema<Settings<C>>;
}

/** A bundle that somebody wiped is repaired when it happens, not at the next tick. */
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

/** Both are done even if one fails; a failure of either is one of the tick. */
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
