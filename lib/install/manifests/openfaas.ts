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
import { defaultSettings, workloadSettings, type SettingsOf } from './settings.ts';

/** The namespace in which OpenFaaS runs functions. All their objects are there, because both roles share some. */
export const openfaasSite: Installation = { ...standardInstallation, namespace: 'openfaas-fn' };

const gateway = 'http://gateway.openfaas:8080';

/** OpenFaaS creates the workloads from the stack file; everything else is plain Kubernetes. */
export const openfaas: Platform = { workload: () => [], wiring: () => [] };

/** The event source of all functions. */
export function openfaasSource(
  definitions: readonly Definition[],
  settingsOf: SettingsOf = defaultSettings,
): Manifest[] {
  return subscribedSource(
    definitions.map((definition) => gatewaySubscriptionOf(definition, openfaasSite, settingsOf(definition.name))),
    openfaasSite,
  );
}

/** The subscription of a function through the gateway. The cron connector sends the ticks. */
export function gatewaySubscriptionOf(
  definition: Definition,
  site: Installation,
  environment: Environment = {},
): WrittenSubscription {
  const sink = `${gateway}/function/${definition.name}`;
  return { ...plainSubscription(definition, site, environment), sink, tick: undefined };
}

/** Whether OpenFaaS deployed the object, according to its label. */
export function isOpenfaas({ metadata }: KubeObject): boolean {
  return metadata?.labels?.['faas_function'] !== undefined;
}

/** faas-cli reads REGISTRY from the environment; this is the fallback. */
const registry = '${REGISTRY:-registry.example.com}';

/** The content of the file for `faas-cli deploy`. */
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
 * faas-netes sets the termination grace period to this plus two seconds. The default of 30 s is as long as a drain
 * takes. Our programs do not read it.
 */
const grace = { write_timeout: '60s' };

function stackFunction({ name, config, scaling, tick }: Definition, given: Environment): object {
  const { minScale, maxScale, cpu, memory } = { ...standardScaling, ...scaling };
  const spec = { name, role: 'events', settings: workloadSettings({ config }, given), scaling } as const;
  const { image, env } = containerOf(spec, openfaasSite);
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
