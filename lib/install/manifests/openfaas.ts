import type { Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { WrittenSubscription } from '../../source/branch.ts';
import { containerOf } from './container.ts';
import type { Platform } from './function-manifests.ts';
import { labelsOf } from '../../function/names.ts';
import { standardInstallation, type Installation } from './installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { subscribedSource, plainSubscription } from './plain.ts';
import { standardScaling } from '../../function/scaling.ts';
import { defaultSettings, settingsTold, type SettingsOf } from './settings.ts';

/** Where OpenFaaS runs functions. What belongs to them is there too: both halves of a function share objects. */
export const openfaasSite: Installation = { ...standardInstallation, namespace: 'openfaas-fn' };

const gateway = 'http://gateway.openfaas:8080';

/** OpenFaaS makes the workloads of the stack file; the rest is Kubernetes alone. */
export const openfaas: Platform = { workload: () => [], wiring: () => [] };

/** The program that watches the API server for all functions. */
export function openfaasSource(
  definitions: readonly Definition[],
  settingsOf: SettingsOf = defaultSettings,
): Manifest[] {
  return subscribedSource(
    definitions.map((definition) => gatewaySubscriptionOf(definition, openfaasSite, settingsOf(definition.name))),
    openfaasSite,
  );
}

/** What a function wants to hear of through the gateway. Ticks are the business of the cron connector. */
export function gatewaySubscriptionOf(
  definition: Definition,
  site: Installation,
  environment: Environment = {},
): WrittenSubscription {
  const sink = `${gateway}/function/${definition.name}`;
  return { ...plainSubscription(definition, site, environment), sink, tick: undefined };
}

/** OpenFaaS marks what it deploys. */
export function isOpenfaas({ metadata }: KubeObject): boolean {
  return metadata?.labels?.['faas_function'] !== undefined;
}

/** faas-cli takes it from the environment, and this example where nobody says. */
const registry = '${REGISTRY:-registry.example.com}';

/** What `faas-cli deploy` reads. */
export function stackOf(definitions: readonly Definition[], settingsOf: SettingsOf = defaultSettings): object {
  return {
    version: '1.0',
    provider: { name: 'openfaas', gateway: 'http://127.0.0.1:8080' },
    functions: Object.fromEntries(
      definitions.map((definition) => [definition.name, stackFunction(definition, settingsOf(definition.name))]),
    ),
  };
}

/**
 * faas-netes lets a pod end for so long, and two seconds more; without it for 30 s, and a drain takes as much. None of
 * our programs reads it.
 */
const grace = { write_timeout: '60s' };

function stackFunction({ name, config, scaling, tick }: Definition, given: Environment): object {
  const { minScale, maxScale, cpu, memory } = { ...standardScaling, ...scaling };
  const told = { name, role: 'events', settings: settingsTold({ config }, given), scaling } as const;
  const { image, env } = containerOf(told, openfaasSite);
  return {
    image: `${registry}/${image}`,
    skip_build: true,
    namespace: openfaasSite.namespace,
    environment: { ...Object.fromEntries(env.map((variable) => [variable.name, variable.value])), ...grace },
    readonly_root_filesystem: true,
    requests: { cpu, memory },
    labels: {
      'com.openfaas.scale.min': String(Math.max(1, minScale)),
      'com.openfaas.scale.max': String(maxScale),
      ...labelsOf(name, 'events'),
    },
    annotations: {
      'com.openfaas.serviceaccount': name,
      ...(tick === undefined ? {} : { topic: 'cron-function', schedule: tick.schedule }),
    },
  };
}
