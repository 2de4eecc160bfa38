import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Definition } from '../../lib/function/definition.ts';
import { foldersUnderTest } from './functions.ts';
import { needlessRights, someNeededRight, without } from './rights/needed.ts';
import { runsOf } from './rights/runs.ts';
import { perform, refusedIn, type Performed, type Run } from './rights/stage.ts';

const folders = await foldersUnderTest();

/** Two cores that others use as well. */
const patience = 180_000;

/**
 * What a function does is recorded under its exact rights: its samples, and where they are not enough the runs that its
 * `test/rights.ts` exports. A right that is missing is refused; one that no recorded call needs is to be removed, or the
 * function needs a sample or a run that shows what it is for.
 */
describe.each(folders)('$definition.name under its shipped rights', (found) => {
  let runs: readonly Run[];
  const performed = new Map<string, Performed>();

  beforeAll(async () => {
    runs = await runsOf(found);
    for (const run of runs) {
      performed.set(run.what, await perform(found, run));
    }
  }, patience);

  it('is refused nothing that it asks for', () => {
    const refused = [...performed].flatMap(([what, exercises]) =>
      refusedIn(exercises).map(
        ({ verb, resource, subresource = '', namespace = '', name = '' }) =>
          `${what}: could not ${verb} ${[resource, subresource].filter(Boolean).join('/')} ${name} in ${namespace || 'the cluster'}; add it to permissions.ts`,
      ),
    );

    expect([...new Set(refused)]).toEqual([]);
  });

  it('needs every verb of every permission: without any of them something is refused', () => {
    expect(needlessRights([...performed.values()].flat())).toEqual([]);
  });

  it(
    'has a run that turns red when a right is left out',
    async () => {
      const [run] = runs;
      const [exercise] = performed.get(run?.what ?? '') ?? [];
      const right = exercise === undefined ? undefined : someNeededRight(exercise);
      if (run === undefined || right === undefined) {
        expect(found.definition.permissions).toBeUndefined(); // else samples.yaml gives it nothing to do
        return;
      }
      const { permissions } = found.definition;
      const definition: Definition = {
        ...found.definition,
        permissions: (config, site) => without(right, permissions?.(config, site) ?? []),
      };
      const refused = refusedIn(await perform({ ...found, definition }, run));

      const [resource, subresource] = right.resources.join().split('/');
      expect(refused).toContainEqual(
        expect.objectContaining({
          verb: right.verbs.join(),
          group: right.groups.join(),
          resource,
          ...(subresource === undefined ? {} : { subresource }),
        }),
      );
    },
    patience,
  );
});
