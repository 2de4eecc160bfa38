import type { Definition } from '../../function/definition.ts';
import type { Trigger } from '../../function/triggers.ts';
import { configOf } from './installed.ts';
import { standardInstallation, type Installation } from './installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { accountWith } from './rights.ts';
import { knativeService } from './service.ts';
import { defaultSettings, type SettingsOf } from './settings.ts';
import { sharedSource } from './sources.ts';

/** What functions share on Knative besides the Broker: the source for common kinds, and the dead-letter sink. */
export function renderShared(
  definitions: readonly Definition[],
  site = standardInstallation,
  settingsOf: SettingsOf = defaultSettings,
): Manifest[] {
  const triggers = definitions.flatMap(
    (definition) => definition.on?.(configOf(definition, settingsOf(definition.name)), site) ?? [],
  );
  return sharedBy(triggers, site);
}

/** The shared objects that these triggers need. */
export function sharedBy(triggers: readonly Trigger[], site: Installation): Manifest[] {
  const watches = triggers.filter((trigger) => 'resource' in trigger);
  return [...sharedSource(watches, site), ...deadLetterSink(site)];
}

/** The program `dead-letters`; it needs no rights and no token. One pod always runs, because its log is the record. */
function deadLetterSink(site: Installation): Manifest[] {
  const { namespace, deadLetters: name } = site;
  const account = accountWith({ name, part: 'events', namespace }, []);
  const scaling = { minScale: 1, maxScale: 1, cpu: '10m', memory: '96Mi' };
  return [
    ...account.map((manifest) => ({ ...manifest, automountServiceAccountToken: false })),
    knativeService({ name, settings: {} }, scaling, site),
  ];
}
