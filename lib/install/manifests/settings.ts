import { ConfigError, exampleEnvironment, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import { FunctionSettings, ProcessSettings, readSettings } from '../../function/settings.ts';

/** The settings that an installation sets for a function; all others have their defaults. */
export type SettingsOf = (name: string) => Environment;

export function defaultSettings(): Environment {
  return {};
}

/** The environment of the workloads of a function: the given settings, and the examples of those without a default. */
export function workloadSettings({ config }: Pick<Definition, 'config'>, given: Environment): Record<string, string> {
  const values = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...exampleEnvironment(config), ...Object.fromEntries(values) };
}

/**
 * Parses settings written as `FUNCTION.NAME=VALUE`. Throws one error that lists everything that is wrong: functions
 * ignore unknown variables, so a misspelt name would have no effect at all.
 */
export function chosenSettings(texts: readonly string[], definitions: readonly Definition[]): SettingsOf {
  const choices = texts.map(choiceIn);
  const chosen = new Map(definitions.map(({ name }) => [name, environmentFor(name, choices)]));
  const problems = [
    ...choices.flatMap((choice) => misfits(choice, definitions)),
    ...definitions.flatMap((definition) => wrongValues(definition, chosen.get(definition.name) ?? {})),
  ];
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
  return (name) => chosen.get(name) ?? {};
}

interface Choice {
  /** The function. */
  readonly name: string;
  readonly setting: string;
  readonly value: string;
}

function choiceIn(text: string): Choice {
  const [, name, setting, value] = /^([^.=]+)\.([^.=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || setting === undefined || value === undefined) {
    throw new ConfigError([`--set takes FUNCTION.NAME=VALUE, not ${JSON.stringify(text)}`]);
  }
  return { name, setting, value };
}

function environmentFor(name: string, choices: readonly Choice[]): Environment {
  const own = choices.filter((choice) => choice.name === name);
  return Object.fromEntries(own.map(({ setting, value }) => [setting, value]));
}

/** Settings that the manifests themselves determine: ports, names, the role and the time to end. */
const decided = new Set([
  ...['PORT', 'TLS_PORT', 'KUBECONFIG', 'POD_NAMESPACE', 'DRAIN_SECONDS'],
  ...['ROLE', 'WEBHOOK_SERVICE'],
]);

function misfits({ name, setting }: Choice, definitions: readonly Definition[]): string[] {
  const definition = definitions.find((each) => each.name === name);
  if (definition === undefined) {
    return [
      `${name}.${setting}: there is no function ${name}, only ${definitions.map((each) => each.name).join(', ')}`,
    ];
  }
  if (decided.has(setting)) {
    return [`${name}.${setting} is set by the manifests; leave it out`];
  }
  const shapes = [ProcessSettings, FunctionSettings, definition.config].map((schema) => schema._zod.def.shape);
  return shapes.some((shape) => Object.hasOwn(shape, setting))
    ? []
    : [`${name}.${setting}: there is no such setting; functions/${name}/README.md lists all`];
}

function wrongValues(definition: Definition, given: Environment): string[] {
  try {
    readSettings([definition], workloadSettings(definition, given));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    return error.problems.map((problem) => `${definition.name}.${problem}`);
  }
}
