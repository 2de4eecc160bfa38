import { exampleEnvironment, parseConfig } from '../function/config.ts';
import type { Definition, Permission } from '../function/define.ts';
import { standardSite, type Manifest } from './manifest.ts';
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
  const { name, tick, scaling, admit = [] } = definition;
  const placeholders = exampleEnvironment(definition.config);
  const config = parseConfig(definition.config, placeholders);
  const on = definition.on?.(config) ?? [];
  const permissions = definition.permissions?.(config) ?? [];
  const told = { name, placeholders };
  const { namespace } = site;
  return {
    placeholders,
    manifests: [
      ...accountWith({ name, part: 'events', namespace }, permissionsOf('events', permissions)),
      ...(admit.length > 0
        ? accountWith({ name, part: 'webhook', namespace }, permissionsOf('admission', permissions))
        : []),
      knativeService(told, scaling, site),
      ...(admit.length > 0 ? webhookWorkload(told, site) : []),
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

function permissionsOf(workload: 'events' | 'admission', permissions: readonly Permission[]): Permission[] {
  return permissions.filter(({ role = workload }) => role === workload);
}
