import { expect, it } from '@jest/globals';
import type { Resource } from '../../../lib/kube/model/resource.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows } from '../policy.ts';
import { referenceManifests } from './reference.ts';
import { openWorld } from './world.ts';

const resources: readonly Resource[] = [changeFreezes, maintenanceWindows, freezeExceptions];

it('FC-75 the manifests of kube-freeze-operator’s users apply unchanged and are evaluated', async () => {
  const world = await openWorld({ at: '2026-12-25T11:00:00Z' });
  const replica = await world.replica();
  for (const manifest of referenceManifests) {
    const resource = resources.find(({ kind }) => kind === manifest.kind) ?? changeFreezes;
    await world.create(resource, structuredClone(manifest));
  }

  const answer = await replica.tick();

  const kept = resources.flatMap((resource) => world.sandbox.api.list(resource).map((object) => object as Kept));
  expect(answer).toBe(204);
  expect(kept.map(({ spec }) => spec)).toEqual(expect.arrayContaining(referenceManifests.map(({ spec }) => spec)));
  expect(kept.map(({ metadata, status }) => [metadata.name, status.active]).toSorted()).toEqual([
    ['nights', false],
    ['payments-fix', true],
    ['plain', false],
    ['year-end', true],
  ]);
  await world.close();
});

interface Kept {
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status: { readonly active: boolean };
}
