import { ConfigError, isGiven, parseConfig } from '../../lib/function/config.ts';
import type { Context } from '../../lib/function/definition.ts';
import type { Permission } from '../../lib/function/permissions.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { Config } from './config.ts';
import { configName } from './names.ts';
import { permissions } from './permissions.ts';
import { Unusable } from './unusable.ts';

/** The settings with what the ConfigMap `istio-rollout-config` says in their place. */
export async function effectiveConfig({
  kube,
  namespace,
  config,
}: Pick<Context<Config>, 'kube' | 'namespace' | 'config'>): Promise<Config> {
  const overrides = await kube.get(configMaps, { namespace, name: configName });
  return overridden(config, overrides?.data ?? {});
}

export function overridden(config: Config, data: Readonly<Record<string, string>>): Config {
  const given = Object.fromEntries(Object.entries(data).map(([name, value]) => [variableOf(name), value]));
  const unknown = Object.keys(given).filter((name) => !(name in config));
  if (unknown.length > 0) {
    throw new Unusable(`${configName}: there is no setting ${unknown.join(', ').slice(0, 200)}`);
  }
  const parsed = Object.entries(parsedFrom(given)).filter(([name]) => isGiven(Config, name, given[name]));
  const undeployed = parsed.filter(([name, value]) => needsOtherManifests(config, { ...config, [name]: value }));
  if (undeployed.length > 0) {
    const names = undeployed.map(([name]) => name).join(', ');
    throw new Unusable(
      `${configName}: ${names} takes other rights than the manifests grant; make them with it instead`,
    );
  }
  return { ...config, ...Object.fromEntries(parsed) };
}

function parsedFrom(given: Readonly<Record<string, string>>): Config {
  try {
    return parseConfig(Config, given);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [];
    throw new Unusable(`${configName}: ${problems.join('; ')}`, error);
  }
}

/** The account has the rights, and is bound by the policy, that its manifests were made with. */
function needsOtherManifests(deployed: Config, wanted: Config): boolean {
  const granted = new Set(permissions(deployed).flatMap(rightsOf));
  const isGranted = permissions(wanted)
    .flatMap(rightsOf)
    .every((right) => granted.has(right));
  return !isGranted || wanted.RESTART_ANNOTATION !== deployed.RESTART_ANNOTATION;
}

function rightsOf({ groups, resources, verbs, names = [''], scope }: Permission): readonly string[] {
  const places = typeof scope === 'string' ? [scope] : scope.namespaces.map((name) => `in ${name}`);
  return [groups, resources, verbs, names, places].reduce<readonly string[]>(
    (rights, words) => rights.flatMap((right) => words.map((word) => `${right} ${word}`)),
    [''],
  );
}

/** `restartDelay` and `RESTART_DELAY` are the same setting. */
function variableOf(name: string): string {
  return /[a-z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase() : name;
}
