import { parseConfig, ConfigError } from '../../lib/function/config.ts';
import type { Context } from '../../lib/function/define.ts';
import { configMaps } from '../../lib/kube/resource.ts';
import { Config } from './config.ts';
import { configName } from './names.ts';
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
  try {
    const parsed = Object.entries(parseConfig(Config, given));
    return { ...config, ...Object.fromEntries(parsed.filter(([name]) => (given[name] ?? '') !== '')) };
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [];
    throw new Unusable(`${configName}: ${problems.join('; ')}`, error);
  }
}

/** `restartDelay` and `RESTART_DELAY` are the same setting. */
function variableOf(name: string): string {
  return /[a-z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase() : name;
}
