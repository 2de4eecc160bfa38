import { digest } from '../../base/digest.ts';
import { parseConfig, type Environment } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import type { ConfigMap, Deployment, Service } from '../../kube/model/resource.ts';
import { subscriptionOf } from '../../source/subscription.ts';
import type { WrittenSubscription } from '../../source/branch.ts';
import { containerOf, standardPorts, volumesOf } from './container.ts';
import type { Platform } from './function-manifests.ts';
import { labelsOf } from '../../function/names.ts';
import { standardInstallation, type Installation } from './installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { accountWith } from './rights.ts';
import { standardScaling } from '../../function/scaling.ts';
import { defaultSettings, workloadSettings, type SettingsOf } from './settings.ts';
import { readingRight } from './sources.ts';

/** The name of the event source. All functions share it, so that equal watches need one connection. */
export const source = 'source';
export const subscriptions = { directory: '/etc/kube-reflex', key: 'subscriptions.json' };

/** Plain Kubernetes: a Deployment for each function; `plainSource` sends the events. */
export const plain: Platform = {
  workload: (spec, scaling, site) => {
    const { cpu, memory } = { ...standardScaling, ...scaling };
    const { name } = spec;
    const container = containerOf({ ...spec, role: 'events', scaling }, site);
    return [
      deployment(
        { name, container: { ...container, resources: { requests: { cpu, memory } } }, ...volumesOf(spec.mounts) },
        site,
      ),
      service(name, site),
    ];
  },
  wiring: () => [],
};

/** The program that watches the API server for these functions, and ticks. */
export function plainSource(
  definitions: readonly Definition[],
  site = standardInstallation,
  settingsOf: SettingsOf = defaultSettings,
): Manifest[] {
  return subscribedSource(
    definitions.map((definition) => plainSubscription(definition, site, settingsOf(definition.name))),
    site,
  );
}

/** The event source with these subscriptions. */
export function subscribedSource(wanted: readonly WrittenSubscription[], site: Installation): Manifest[] {
  const rights = wanted.flatMap(({ watches }) => watches.map(({ resource, scope }) => readingRight(resource, scope)));
  const { directory, key } = subscriptions;
  const text = `${JSON.stringify(wanted, undefined, 2)}\n`;
  const container = containerOf({ name: source, role: 'events', settings: {} }, site);
  const variables = [{ name: 'SUBSCRIPTIONS', value: `${directory}/${key}` }];
  return [
    ...accountWith({ name: source, part: 'events', namespace: site.namespace }, rights),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadataOf(source, site),
      data: { [key]: text },
    } satisfies ConfigMap,
    deployment(
      {
        name: source,
        container: {
          ...container,
          env: [...container.env.filter(({ name }) => name === 'FUNCTION'), ...variables],
          resources: { requests: { cpu: '10m', memory: '96Mi' } },
          volumeMounts: [{ name: 'subscriptions', mountPath: directory, readOnly: true }],
        },
        volumes: [{ name: 'subscriptions', configMap: { name: source } }],
        // The source reads its subscriptions once; a changed template restarts it.
        annotations: { 'kube-reflex.dev/subscriptions': digest(text, 16) },
      },
      site,
    ),
  ];
}

/** The subscription of a function with the default settings, or with those given. */
export function plainSubscription(
  definition: Definition,
  site: Installation,
  environment: Environment = {},
): WrittenSubscription {
  const { name, config } = definition;
  const settings = parseConfig(config, workloadSettings({ config }, environment), name);
  const sink = `http://${name}.${site.namespace}.svc`;
  const { watches, tick } = subscriptionOf(definition, settings, site);
  return { name, sink, watches, tick };
}

function metadataOf(
  name: string,
  { namespace }: Installation,
): { name: string; namespace: string; labels: Record<string, string> } {
  return { name, namespace, labels: { ...labelsOf(name, 'events') } };
}

type PodSpec = NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>;

/** One replica: a second one would do no harm, but double the work. */
function deployment(
  {
    name,
    container,
    volumes,
    annotations,
  }: {
    readonly name: string;
    readonly container: object;
    readonly volumes?: PodSpec['volumes'];
    readonly annotations?: Record<string, string>;
  },
  site: Installation,
): Manifest {
  const metadata = metadataOf(name, site);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: metadata.labels },
      template: {
        metadata: { labels: metadata.labels, ...(annotations === undefined ? {} : { annotations }) },
        spec: {
          serviceAccountName: name,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 60,
          containers: [
            {
              ...(container as PodSpec['containers'][number]),
              ports: [{ name: 'http', containerPort: standardPorts().http }],
              readinessProbe: { httpGet: { path: '/health/readiness', port: 'http' } },
              livenessProbe: { httpGet: { path: '/health/liveness', port: 'http' } },
            },
          ],
          ...(volumes === undefined ? {} : { volumes }),
        },
      },
    },
  } satisfies Deployment;
}

function service(name: string, site: Installation): Manifest {
  const metadata = metadataOf(name, site);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: metadata.labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  } satisfies Service;
}
