import * as z from 'zod/mini';
import {
  ConfigError,
  dnsLabel,
  file,
  flag,
  integer,
  oneOf,
  parseConfig,
  text,
  withDefault,
  type Environment,
} from './config.ts';
import type { Definition } from './definition.ts';
import { unreadVariables, type UnknownSetting } from './unknown-settings.ts';

/** Settings of the process, whichever functions it serves. */
export const ProcessSettings = z.object({
  PORT: withDefault(
    integer({ about: 'HTTP: events, routes, health, metrics', example: '8080', min: 0, max: 65_535 }),
    8080,
  ),
  TLS_PORT: withDefault(integer({ about: 'HTTPS: admission', example: '9443', min: 0, max: 65_535 }), 9443),
  MAX_BODY_BYTES: withDefault(
    integer({
      about: 'largest review in bytes: two objects of 3 MiB, and reserve',
      example: '7340032',
      min: 1024,
      max: 2 ** 30,
    }),
    7 * 1024 * 1024,
  ),
  MAX_INFLIGHT_BYTES: withDefault(
    integer({
      about: 'bytes of reviews in memory at once; more get 503',
      example: '33554432',
      min: 1024,
      max: 2 ** 32,
    }),
    32 * 1024 * 1024,
  ),
  KUBECONFIG: z.optional(file({ about: 'cluster to use when not running in a pod', example: '/home/me/.kube/config' })),
  POD_NAMESPACE: z.optional(text({ about: 'own namespace', example: 'kube-reflex', pattern: dnsLabel })),
  LOG_LEVEL: withDefault(
    oneOf(['info', 'trace', 'debug', 'warn', 'error', 'silent'], { about: 'lowest level to log' }),
    'info',
  ),
  DRAIN_SECONDS: withDefault(
    integer({
      about: 'how long to serve after SIGTERM, until no more requests arrive',
      example: '5',
      min: 0,
      max: 300,
    }),
    5,
  ),
});
export type ProcessSettings = z.output<typeof ProcessSettings>;

const timeout = integer({ about: 'longest run of a handler, in seconds', example: '60', min: 1, max: 3600 });

/** Settings that every function has. */
export const FunctionSettings = z.object({
  ROLE: withDefault(
    oneOf(['all', 'events', 'admission'], { about: 'which roles of the function this process serves' }),
    'all',
  ),
  TIMEOUT_SECONDS: withDefault(timeout, 60),
  MAX_RUNNING: withDefault(integer({ about: 'handlers that run at once', example: '16', min: 1, max: 1000 }), 16),
  MAX_WAITING: withDefault(
    integer({ about: 'events that may wait; more get 503', example: '1000', min: 1, max: 100_000 }),
    1000,
  ),
  DRY_RUN: withDefault(flag({ about: 'log what would be written, write nothing' }), false),
});
export type FunctionSettings = z.output<typeof FunctionSettings>;

const knownSettings = {
  process: Object.keys(ProcessSettings._zod.def.shape),
  common: Object.keys(FunctionSettings._zod.def.shape),
};

/** A function with its settings read. */
export interface Configured {
  readonly definition: Definition;
  readonly config: unknown;
  readonly settings: FunctionSettings;
  /** Variables that are set for it and that nothing reads. */
  readonly unknown: readonly UnknownSetting[];
}

/** A function with long runs has its own default of TIMEOUT_SECONDS. */
function settingsOf({ timeoutSeconds }: Definition): typeof FunctionSettings {
  return timeoutSeconds === undefined
    ? FunctionSettings
    : z.extend(FunctionSettings, { TIMEOUT_SECONDS: withDefault(timeout, timeoutSeconds) });
}

/** Variables that are set for a function and are no settings, or no longer: nobody would notice that they do nothing. */
export function unknownSettings(
  definitions: readonly Definition[],
  environment: Environment,
): readonly UnknownSetting[] {
  return unreadVariables(definitions, environment, knownSettings);
}

/** All settings of the process, or one error that names everything that is wrong. */
export function readSettings(
  definitions: readonly Definition[],
  environment: Environment,
): { readonly settings: ProcessSettings; readonly configured: readonly Configured[] } {
  const problems: string[] = [];

  function attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      problems.push(...error.problems);
      return undefined;
    }
  }

  const settings = attempt(() => parseConfig(ProcessSettings, environment));
  const unread = unknownSettings(definitions, environment);
  const configured = definitions.flatMap((definition) => {
    const settings = attempt(() => parseConfig(settingsOf(definition), environment, definition.name));
    const config = attempt(() => parseConfig(definition.config, environment, definition.name));
    const unknown = unread.filter((each) => each.function === definition.name);
    return settings === undefined ? [] : [{ definition, config, settings, unknown }];
  });
  if (settings === undefined || problems.length > 0) {
    throw new ConfigError([...new Set(problems)]);
  }
  return { settings, configured };
}
