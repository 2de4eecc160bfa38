import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFunctions, type Found } from '../../lib/cli/functions.ts';
import { samplesOf } from '../../lib/cli/start/samples.ts';
import { questionsOf, type Question } from '../../lib/runtime/doctor/rights.ts';
import { exampleEnvironment, parseConfig } from '../../lib/function/config.ts';
import type { Definition } from '../../lib/function/definition.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { until } from '../../lib/source/testing/until.ts';
import { openWorld, type World } from './world.ts';

const { namespace } = standardInstallation;
const managers = 'kube-reflex.dev/';

/** Every feature that writes is on. */
const environment: Readonly<Record<string, string>> = {
  COREDNS_AUTO_CONFIGURE: 'true',
  TOUCH_PODS: 'true',
  EMIT_EVENTS: 'true',
  MANAGE_WEBHOOK: 'full',
  ISTIOD_CONFIG_READ_DELAY: '0s',
};

function settingsOf({ config }: Definition): Readonly<Record<string, string>> {
  return { ...exampleEnvironment(config), ...environment };
}

const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** What the function may write, each right on its own. */
function writesOf(definition: Definition): readonly Question[] {
  const config = parseConfig(definition.config, { ...settingsOf(definition), TLS_MODE: 'self' });
  const permissions = definition.permissions?.(config, { namespace }) ?? [];
  return questionsOf(permissions, namespace).filter(({ verb }) => writing.has(verb));
}

/** The objects that it is named a right to write, and so wants as they are. */
function namedBy(definition: Definition): ReadonlySet<string> {
  return new Set(
    writesOf(definition).flatMap(({ group, resource, subresource = '', namespace: place = '', name }) =>
      name === undefined ? [] : [`${resource}.${group}/${subresource} ${place}/${name}`],
    ),
  );
}

describe('what functions may write', () => {
  let definitions: readonly Definition[];
  beforeAll(async () => {
    definitions = (await findFunctions('functions')).map(({ definition }) => definition);
  });

  it('is no object that another function names in its rights, too', () => {
    const named = definitions.map((definition) => [definition.name, namedBy(definition)] as const);
    const shared = named.flatMap(([one, objects], index) =>
      named
        .slice(index + 1)
        .flatMap(([other, theirs]) =>
          [...objects.intersection(theirs)].map((object) => `${object}: ${one} and ${other}`),
        ),
    );

    expect(named.flatMap(([, objects]) => [...objects])).not.toEqual([]);
    expect(shared).toEqual([]);
  });

  it('for themselves has names that no two of them share', () => {
    const kept = definitions.flatMap((definition) =>
      (definition.keeps?.(parseConfig(definition.config, settingsOf(definition)), { namespace }) ?? []).map(
        ({ resource, name }) => `${resource.kind} ${name}`,
      ),
    );

    expect(kept).not.toEqual([]);
    expect(new Set(kept).size).toBe(kept.length);
  });
});

describe('all functions at work on one cluster', () => {
  /** By object and field: which functions have ever written it. */
  const writers = new Map<string, Set<string>>();
  let world: World;
  let found: readonly Found[];

  beforeAll(async () => {
    found = await findFunctions('functions');
    const settings = Object.assign({}, ...found.map(({ definition }) => settingsOf(definition))) as Readonly<
      Record<string, string>
    >;
    world = await openWorld({ found, settings });
    const { api } = world.sandbox;
    for (const kind of api.kinds()) {
      api.subscribe(kind, ({ object }) => note(kind.kind, object));
    }
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  function note(kind: string, { metadata = {} }: KubeObject): void {
    const { namespace: place = '', name = '', uid = '', managedFields = [] } = metadata;
    for (const { manager = '', fieldsV1 } of managedFields.filter((entry) => entry.manager?.startsWith(managers))) {
      for (const field of fieldsIn(fieldsV1)) {
        const key = `${kind} ${place}/${name} ${uid}: ${field}`;
        writers.set(key, (writers.get(key) ?? new Set()).add(manager.slice(managers.length)));
      }
    }
  }

  function hasWritten(by: string, kind = ''): boolean {
    return [...writers].some(([key, names]) => names.has(by) && key.startsWith(kind));
  }

  /** One that may write and has samples has something to write about. */
  function writes({ definition, folder }: Found): boolean {
    return writesOf(definition).length > 0 && samplesOf(folder).length > 0;
  }

  it('no two write the same field of the same object', async () => {
    await world.playSamples();
    await world.tickAll();
    await until(
      () => found.filter(writes).every(({ definition }) => hasWritten(definition.name)),
      'every function has written',
      45_000,
    );
    // Two of ours change Deployments: this is where fields could meet.
    for (const name of ['istio-rollout', 'coredns-sync']) {
      await until(() => hasWritten(name, 'Deployment '), `${name} has changed a Deployment`, 45_000);
    }

    const contested = [...writers]
      .filter(([, names]) => names.size > 1)
      .map(([key, names]) => `${key} ${[...names].join()}`);
    expect(contested).toEqual([]);
  });
});

/** The paths of all leaves. That a map or list is there at all belongs to everybody who has something in it. */
function fieldsIn(fields: unknown, path: readonly string[] = []): readonly string[] {
  const entries = Object.entries((fields ?? {}) as Readonly<Record<string, unknown>>).filter(([key]) => key !== '.');
  return entries.length === 0
    ? path.length === 0
      ? []
      : [path.join(' ')]
    : entries.flatMap(([key, rest]) => fieldsIn(rest, [...path, key]));
}
