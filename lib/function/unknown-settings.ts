import { nearestWord } from '../base/suggest.ts';
import { variablesFor, type Environment } from './config.ts';
import type { Definition } from './definition.ts';

/** A variable that is set for a function and that nothing reads. */
export interface UnknownSetting {
  readonly function: string;
  readonly variable: string;
  /** What to do about it, in one sentence. */
  readonly instead: string;
}

/** Names that are settings: of each function with or without its prefix, of the process without. */
export interface KnownSettings {
  readonly process: readonly string[];
  readonly common: readonly string[];
}

/**
 * The variables that carry the name of a function and match none of its settings, and settings that it no longer has.
 * `COREDNS_SYNC_MAX_SHARD=4` is one: nobody would notice that it does nothing.
 */
export function unreadVariables(
  definitions: readonly Definition[],
  environment: Environment,
  known: KnownSettings,
): readonly UnknownSetting[] {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  const readBare = new Set([...known.process, ...known.common, ...definitions.flatMap(keysOf)]);
  return definitions.flatMap((definition) => {
    const settings = [...keysOf(definition), ...known.common];
    return given.flatMap(([variable, value = '']): UnknownSetting[] => {
      const key = keyIn(variable, definition, definitions) ?? formerKey(variable, definition, readBare);
      return key === undefined || settings.includes(key) || isServiceLink(key, value)
        ? []
        : [{ function: definition.name, variable, instead: adviceFor(key, { definition, settings, known }) }];
    });
  });
}

function keysOf({ config }: Definition): readonly string[] {
  return Object.keys(config._zod.def.shape);
}

/** The part after the function's prefix, unless the longer prefix of another function matches as well. */
function keyIn(variable: string, { name }: Definition, definitions: readonly Definition[]): string | undefined {
  const prefix = prefixOf(name);
  const isOthers = definitions.some(
    (other) => prefixOf(other.name).length > prefix.length && variable.startsWith(prefixOf(other.name)),
  );
  return variable.startsWith(prefix) && !isOthers ? variable.slice(prefix.length) : undefined;
}

function prefixOf(name: string): string {
  return variablesFor('', name)[0] ?? '';
}

/** A former setting also counts without the prefix, unless something else reads the variable. */
function formerKey(
  variable: string,
  { formerSettings = {} }: Definition,
  readBare: ReadonlySet<string>,
): string | undefined {
  return Object.hasOwn(formerSettings, variable) && !readBare.has(variable) ? variable : undefined;
}

/** Kubernetes adds variables for Services to pods: `COREDNS_SYNC_SERVICE_HOST`, `COREDNS_SYNC_PORT=tcp://…`. */
function isServiceLink(key: string, value: string): boolean {
  return serviceVariable.test(key) || (/^(\w+_)?PORT$/.test(key) && /^(tcp|udp|sctp):\/\//.test(value));
}

const serviceVariable = /^(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PORT|PROTO|ADDR))?)$/;

interface Surroundings {
  readonly definition: Definition;
  readonly settings: readonly string[];
  readonly known: KnownSettings;
}

function adviceFor(key: string, { definition, settings, known }: Surroundings): string {
  const replaced = definition.formerSettings?.[key];
  if (replaced !== undefined) {
    return replaced;
  }
  if (known.process.includes(key)) {
    return `set ${key}: it is for the whole process`;
  }
  const nearest = nearestWord(key, settings);
  return nearest === undefined
    ? `remove it: functions/${definition.name}/README.md lists the settings`
    : `set ${variablesFor(nearest, definition.name)[0] ?? nearest} if that was meant, or remove it`;
}
