import { exampleEnvironment, parseConfig, type Environment } from '../function/config.ts';
import type { Definition } from '../function/define.ts';
import type { Kube } from '../kube/client.ts';
import { deployments, type Resource } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import { knative, type Platform } from './function-manifests.ts';
import { plain } from './plain.ts';

/** How a function is installed in a cluster. */
export interface Installed {
  readonly platform: Platform;
  /** The settings as the workload was given them. */
  readonly environment: Environment;
}

export const knativeServices: Resource = {
  group: 'serving.knative.dev',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

/** `undefined` where there is neither a Knative Service nor a Deployment of its name. */
export async function findInstallation(
  name: string,
  { kube, namespace }: { readonly kube: Kube; readonly namespace: string },
): Promise<Installed | undefined> {
  const service = await kube.get(knativeServices, { name, namespace });
  const workload = service ?? (await kube.get(deployments, { name, namespace }));
  return workload === undefined
    ? undefined
    : { platform: service === undefined ? plain : knative, environment: environmentOf(workload) };
}

/** The settings as the function itself has read them. */
export function configOf({ config }: Pick<Definition, 'config'>, environment: Environment): unknown {
  return parseConfig(config, { ...exampleEnvironment(config), ...environment });
}

/** The variables of the first container that are written out; others come from elsewhere and keep their examples. */
function environmentOf(workload: KubeObject): Environment {
  const { spec } = workload as {
    readonly spec?: {
      readonly template?: {
        readonly spec?: {
          readonly containers?: readonly {
            readonly env?: readonly { readonly name: string; readonly value?: string }[];
          }[];
        };
      };
    };
  };
  const variables = spec?.template?.spec?.containers?.[0]?.env ?? [];
  return Object.fromEntries(variables.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
