import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { changeFreezes, freezeExceptions, maintenanceWindows, type Action, type ChangeFreezeSpec } from '../policy.ts';
import { deployments, namespaces } from '../../../lib/kube/model/resource.ts';
import type { AdmissionRequest } from '../../../lib/kube/model/review.ts';
import { freeze, namespaceNamed } from './objects.ts';
import { deployment, openGate, type Gate } from './reviews.ts';
import { openWorld, type World } from './world.ts';

export const noon = '2026-12-25T12:00:00Z';
export const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
export const everything: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];

/** A cluster at noon of Christmas, with prod and staging, whose changes freeze-check is asked about. */
export interface Prod {
  readonly world: World;
  readonly gate: Gate;
  /** A freeze over Christmas. */
  readonly frozen: (deny: readonly Action[], spec?: Partial<ChangeFreezeSpec>, name?: string) => Promise<unknown>;
  /** Asks a replica of other settings. */
  readonly askWith: (
    environment: Readonly<Record<string, string>>,
    request: Partial<AdmissionRequest>,
  ) => Promise<{ readonly allowed: boolean; readonly metrics: string }>;
}

/** The same one for all tests of a file; their policies go and the clock goes back after each. */
export function useProd(): Prod {
  let world: World;
  let gate: Gate;

  beforeAll(async () => {
    world = await openWorld({ at: noon });
    await world.create(namespaces, namespaceNamed('prod', { env: 'prod' }));
    await world.create(namespaces, namespaceNamed('staging', { env: 'staging' }));
    await world.create(namespaces, namespaceNamed('kube-system', {})).catch(() => undefined);
    await world.create(deployments, deployment());
    gate = await openGate(world);
  });
  afterAll(async () => {
    await gate.close();
    await world.close();
  });
  afterEach(async () => {
    world.turnTo(noon);
    for (const kind of [changeFreezes, maintenanceWindows, freezeExceptions]) {
      for (const { metadata } of world.sandbox.api.list(kind)) {
        await world.remove(kind, metadata?.name ?? '');
      }
    }
  });

  return {
    get world() {
      return world;
    },
    get gate() {
      return gate;
    },
    frozen: (deny, spec = {}, name = 'holiday') =>
      world.create(changeFreezes, freeze(name, christmas, { rules: { deny: [...deny] }, ...spec })),
    askWith: async (environment, request) => {
      const other = await openGate(world, { name: 'other', environment: { ...environment } });
      try {
        const { allowed } = await other.ask(request);
        return { allowed, metrics: await other.metrics() };
      } finally {
        await other.close();
      }
    },
  };
}
