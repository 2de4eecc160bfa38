import { exampleEnvironment, parseConfig } from '../function/config.ts';
import type { Admission, Definition, Permission, Trigger } from '../function/define.ts';
import { standardSite, type Manifest, type Site } from './manifest.ts';
import { accountWith } from './rights.ts';
import { knativeService } from './service.ts';
import { sourcesOf, tickSource } from './sources.ts';
import { triggersOf } from './triggers.ts';
import { webhookConfigurations, webhookWorkload } from './webhook.ts';

/** Everything that a function needs in a cluster. */
export interface Rendered {
  /** In the order in which they should be applied: what others refer to first, webhook configurations last. */
  readonly manifests: readonly Manifest[];
  /** Settings that the operator has to fill in, each with its example. */
  readonly placeholders: Readonly<Record<string, string>>;
}

/** What the definition asks for with the default settings. */
export function renderFunction(definition: Definition, site = standardSite): Rendered {
  const { name, tick, scaling } = definition;
  const placeholders = exampleEnvironment(definition.config);
  const { on, admit, permissions, objects } = askedBy(definition, parseConfig(definition.config, placeholders), site);
  const told = { name, placeholders };
  const { namespace } = site;
  const admits = admit.length > 0;
  return {
    placeholders,
    manifests: [
      ...objects,
      ...accountWith({ name, part: 'events', namespace }, permissionsOf('events', permissions)),
      ...(admits ? accountWith({ name, part: 'webhook', namespace }, permissionsOf('admission', permissions)) : []),
      knativeService(told, scaling, site),
      ...(admits ? webhookWorkload(told, site) : []),
      ...sourcesOf(
        name,
        on.filter((trigger) => 'resource' in trigger),
        site,
      ),
      ...(tick === undefined ? [] : [tickSource(name, tick, site)]),
      ...triggersOf(name, { on, ticks: tick !== undefined }, site),
      ...webhookConfigurations(name, admit, site),
    ],
  };
}

/** What the definition makes of its settings. */
function askedBy(
  { on, admit, permissions, objects }: Definition,
  config: unknown,
  site: Site,
): {
  readonly on: readonly Trigger[];
  readonly admit: readonly Admission[];
  readonly permissions: readonly Permission[];
  readonly objects: readonly Manifest[];
} {
  return {
    on: on?.(config) ?? [],
    admit: admit?.(config, site) ?? [],
    permissions: permissions?.(config) ?? [],
    objects: objects?.(config, site) ?? [],
  };
}

function permissionsOf(workload: 'events' | 'admission', permissions: readonly Permission[]): Permission[] {
  return permissions.filter(({ role = workload }) => role === workload);
}
