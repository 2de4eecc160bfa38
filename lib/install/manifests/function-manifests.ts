import { parseConfig, type Environment } from '../../function/config.ts';
import type { Admission } from '../../function/admission.ts';
import type { Definition } from '../../function/definition.ts';
import type { Permission } from '../../function/permissions.ts';
import type { Scaling } from '../../function/scaling.ts';
import type { Trigger } from '../../function/triggers.ts';
import type { ContainerSpec, Mounted } from './container.ts';
import { standardInstallation, type Installation } from './installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { TlsConfig } from '../../tls/settings.ts';
import { accountWith } from './rights.ts';
import { knativeService } from './service.ts';
import { workloadSettings } from './settings.ts';
import { sourcesOf, tickSource } from './sources.ts';
import { triggersOf } from './triggers.ts';
import { webhookConfigurations, webhookWorkload } from './webhook.ts';

/** Everything that a function needs in a cluster. */
export interface Rendered {
  /** In the order of applying: referenced objects first, webhook configurations last. */
  readonly manifests: readonly Manifest[];
  /** Settings that the operator must fill in, each with its example. */
  readonly placeholders: Readonly<Record<string, string>>;
}

/** How the events role of a function runs, and how events reach it. */
export interface Platform {
  readonly workload: (
    spec: Omit<ContainerSpec, 'role'>,
    scaling: Scaling | undefined,
    site: Installation,
  ) => readonly Manifest[];
  readonly wiring: (definition: Definition, on: readonly Trigger[], site: Installation) => readonly Manifest[];
}

export const knative: Platform = {
  workload: (spec, scaling, site) => [knativeService(spec, scaling, site)],
  wiring: ({ name, tick }, on, site) => [
    ...sourcesOf(
      name,
      on.filter((trigger) => 'resource' in trigger),
      site,
    ),
    ...(tick === undefined ? [] : [tickSource(name, tick, site)]),
    ...triggersOf(name, { on, ticks: tick !== undefined }, site),
  ],
};

/**
 * The manifests of a definition, with the default settings or with `environment`, which is also written into the
 * workloads.
 */
export function renderFunction(
  definition: Definition,
  site = standardInstallation,
  { platform = knative, environment = {} }: { readonly platform?: Platform; readonly environment?: Environment } = {},
): Rendered {
  const { name, scaling } = definition;
  const settings = workloadSettings(definition, environment);
  const config = parseConfig(definition.config, settings, name);
  const { on, admit, permissions, objects } = askedBy(definition, config, site);
  const { namespace } = site;
  const admits = admit.length > 0;
  const certificate = admits ? certificateMount(config as TlsConfig) : [];
  const spec = { name, settings, mounts: certificate };
  return {
    placeholders: Object.fromEntries(
      Object.entries(settings).filter(([variable]) => environment[variable] === undefined),
    ),
    manifests: [
      ...objects,
      ...accountWith({ name, part: 'events', namespace }, permissionsOf('events', permissions)),
      ...(admits ? accountWith({ name, part: 'webhook', namespace }, permissionsOf('admission', permissions)) : []),
      ...platform.workload(spec, scaling, site),
      ...(admits
        ? webhookWorkload({ ...spec, mounts: [...(definition.mounts?.(config) ?? []), ...certificate] }, site)
        : []),
      ...platform.wiring(definition, on, site),
      ...webhookConfigurations(name, admit, site),
    ],
  };
}

/** If another party issues the certificate, both roles mount it. */
function certificateMount({ TLS_MODE, TLS_SECRET, CERT_DIR }: TlsConfig): Mounted[] {
  const issuedElsewhere = TLS_MODE === 'files' || TLS_MODE === 'cert-manager' || TLS_MODE === 'gardener';
  return issuedElsewhere ? [{ secret: TLS_SECRET, path: CERT_DIR }] : [];
}

/** What the definition requests with its settings. */
export function askedBy(
  { on, admit, permissions, objects }: Definition,
  config: unknown,
  site: Installation,
): {
  readonly on: readonly Trigger[];
  readonly admit: readonly Admission[];
  readonly permissions: readonly Permission[];
  readonly objects: readonly Manifest[];
} {
  return {
    on: on?.(config, site) ?? [],
    admit: admit?.(config, site) ?? [],
    permissions: permissions?.(config, site) ?? [],
    objects: objects?.(config, site) ?? [],
  };
}

/** The rights of one role of a function. */
export function permissionsOf(workload: 'events' | 'admission', permissions: readonly Permission[]): Permission[] {
  return permissions.filter(({ role = workload }) => role === workload);
}
