import type { Trigger, Watch } from '../../function/triggers.ts';
import { apiVersion } from '../../kube/model/resource.ts';
import { labelsOf } from '../../function/names.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { Installation } from './installation.ts';
import { areShared, byKind, kindOf, shared, stamp } from './sources.ts';

/** A CloudEvents subscription filter; all filters of a Trigger must match. */
type Filter =
  | { readonly exact: Attributes }
  | { readonly prefix: Attributes }
  | { readonly any: readonly { readonly exact: Attributes }[] };
type Attributes = Readonly<Record<string, string>>;

/**
 * The Triggers of a function. Watches of one kind share a Trigger, so that an event that two of them match arrives
 * once.
 */
export function triggersOf(
  name: string,
  { on, ticks }: { readonly on: readonly Trigger[]; readonly ticks: boolean },
  site: Installation,
): Manifest[] {
  const watches = on.filter((trigger) => 'resource' in trigger);
  const hints = on.filter((trigger) => 'type' in trigger).map(({ type }) => ({ type }));
  const kinds = byKind(watches);
  return [
    ...kinds.map((group) => triggerTo(name, nameOf(group, kinds), { filters: changeFilters(name, group), site })),
    ...(ticks
      ? [triggerTo(name, 'tick', { filters: [{ exact: { type: 'dev.knative.sources.ping', [stamp]: name } }], site })]
      : []),
    ...(hints.length > 0 ? [triggerTo(name, 'hints', { filters: oneOf({}, hints), site })] : []),
  ];
}

/** The plural, unless two kinds or modes share it. */
function nameOf(group: readonly Watch[], all: readonly (readonly Watch[])[]): string {
  const [watch] = group;
  if (watch === undefined) {
    return '';
  }
  const { plural } = watch.resource;
  const isUnique = all.filter(([other]) => other?.resource.plural === plural).length === 1;
  return isUnique ? plural : kindOf(watch);
}

function changeFilters(name: string, group: readonly Watch[]): Filter[] {
  const [watch] = group;
  if (watch === undefined) {
    return [];
  }
  const { resource, mode } = watch;
  const from = areShared(group) ? shared : name;
  const kind = { [stamp]: from, apiversion: apiVersion(resource), kind: resource.kind };
  return [
    { prefix: { type: `dev.knative.apiserver.${mode === 'Reference' ? 'ref' : 'resource'}.` } },
    ...oneOf(kind, group.flatMap(objectsOf)),
  ];
}

/** The objects of a watch, as event attributes; empty attributes match all events of its source. */
function objectsOf({ scope, names }: Watch): Attributes[] {
  const places = typeof scope === 'object' && names !== undefined ? scope.namespaces : [undefined];
  return places.flatMap((namespace) =>
    (names ?? [undefined]).map((name) => ({
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    })),
  );
}

/** Matches the common attributes and one of the choices. */
function oneOf(common: Attributes, choices: readonly Attributes[]): Filter[] {
  const [only] = choices;
  const takesAll = choices.some((choice) => Object.keys(choice).length === 0);
  if (takesAll || only === undefined || choices.length === 1) {
    return [{ exact: { ...common, ...(takesAll ? {} : only) } }];
  }
  return [
    ...(Object.keys(common).length > 0 ? [{ exact: common }] : []),
    { any: choices.map((choice) => ({ exact: choice })) },
  ];
}

function triggerTo(
  name: string,
  what: string,
  { filters, site }: { readonly filters: readonly Filter[]; readonly site: Installation },
): Manifest {
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name: `${name}-${what}`, namespace: site.namespace, labels: labelsOf(name, 'events') },
    spec: {
      broker: site.broker,
      filters,
      subscriber: { ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name } },
      delivery: deliveryAt(site), // replaces the Broker's delivery as a whole, so it repeats all fields
    },
  };
}

/** Retries take 1.4 s in all: longer ones would block the source, and the tick repairs what was lost. */
export function deliveryAt({ deadLetters }: Installation): object {
  return {
    retry: 3,
    backoffPolicy: 'exponential',
    backoffDelay: 'PT0.2S',
    deadLetterSink: { ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: deadLetters } },
  };
}
