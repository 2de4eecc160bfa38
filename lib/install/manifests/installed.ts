import { exampleEnvironment, parseConfig, variablesFor, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import type { Kube } from '../../kube/client.ts';
import { deployments, type Resource } from '../../kube/model/resource.ts';
import { knative, type Platform } from './function-manifests.ts';
import { isOpenfaas, openfaas } from './openfaas.ts';
import { plain } from './plain.ts';
import { variablesOf, type Variables } from './variables.ts';

/** How a function is installed in a cluster. */
export interface Installed extends Variables {
  readonly platform: Platform;
}

export const knativeServices: Resource = {
  group: 'serving.knative.dev',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

/** `undefined` if there is neither a Knative Service nor a Deployment with its name. */
export async function findInstallation(
  { name, config }: Pick<Definition, 'name' | 'config'>,
  { kube, namespace }: { readonly kube: Kube; readonly namespace: string },
): Promise<Installed | undefined> {
  const service = await kube.get(knativeServices, { name, namespace });
  const workload = service ?? (await kube.get(deployments, { name, namespace }));
  if (workload === undefined) {
    return undefined;
  }
  const concerned = new Set(Object.keys(config._zod.def.shape).flatMap((key) => variablesFor(key, name)));
  const variables = await variablesOf(workload, { kube, namespace, concerned });
  const alone = isOpenfaas(workload) ? openfaas : plain;
  return { platform: service === undefined ? alone : knative, ...variables };
}

/** The settings as the function itself reads them. */
export function configOf({ name, config }: Pick<Definition, 'name' | 'config'>, environment: Environment): unknown {
  return parseConfig(config, { ...exampleEnvironment(config), ...environment }, name);
}
