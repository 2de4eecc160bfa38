import { exampleEnvironment } from '../function/config.ts';
import type { Definition } from '../function/define.ts';
import { containerOf } from './container.ts';
import type { Platform } from './function-manifests.ts';
import { labelsOf, standardSite, type Manifest, type Site } from './manifest.ts';
import { subscribedSource, subscriptionOf } from './plain.ts';
import { standardScaling } from './service.ts';

/** Where OpenFaaS runs functions. What belongs to them is there too: both halves of a function share objects. */
export const openfaasSite: Site = { ...standardSite, namespace: 'openfaas-fn' };

const gateway = 'http://gateway.openfaas:8080';

/** OpenFaaS makes the workloads of the stack file; the rest is Kubernetes alone. */
export const openfaas: Platform = { workload: () => [], wiring: () => [] };

/** The program that watches the API server for all functions. Ticks are the business of the cron connector. */
export function openfaasSource(definitions: readonly Definition[]): Manifest[] {
  const wanted = definitions.map((definition) => ({
    ...subscriptionOf(definition, openfaasSite),
    sink: `${gateway}/function/${definition.name}`,
    tick: undefined,
  }));
  return subscribedSource(wanted, openfaasSite);
}

/** What `faas-cli deploy` reads. */
export function stackOf(definitions: readonly Definition[]): object {
  return {
    version: '1.0',
    provider: { name: 'openfaas', gateway: 'http://127.0.0.1:8080' },
    functions: Object.fromEntries(definitions.map((definition) => [definition.name, stackFunction(definition)])),
  };
}

function stackFunction({ name, config, scaling, tick }: Definition): object {
  const { minScale, maxScale, cpu, memory } = { ...standardScaling, ...scaling };
  const { image, env } = containerOf({ name, role: 'events', placeholders: exampleEnvironment(config) }, openfaasSite);
  return {
    image,
    skip_build: true,
    namespace: openfaasSite.namespace,
    environment: Object.fromEntries(env.map((variable) => [variable.name, variable.value])),
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
