import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { configMaps, ingresses } from '../../../lib/kube/model/resource.ts';
import type { Running } from '../../../lib/runtime/main.ts';
import { mortalAccess } from './mortal.ts';
import { disordered, oracle, oracleSettings, seeded } from './oracle.ts';
import { openWorld, type World } from './world.ts';
import { binaryEvent, send, startApp } from '../../../test/support/http.ts';
import type { Death } from '../../../test/real/support/killing-proxy.ts';
import corednsSync from '../index.ts';

const settings = {
  MIN_WRITE_INTERVAL_MS: '0',
  COREDNS_AUTO_CONFIGURE: 'true',
  EMIT_EVENTS: 'false',
  ...oracleSettings,
  SHARD_BYTES: '4096',
  MAX_SHARDS: '8',
  POD_NAMESPACE: 'kube-reflex',
};

function expected({ sandbox }: World): readonly string[] {
  return oracle(sandbox.api.list(ingresses));
}

/** Watches that hosts which stay valid are in the rules at every moment. */
function guard(world: World, stable: readonly string[]): readonly string[] {
  const missing: string[] = [];
  world.sandbox.api.subscribe(configMaps, () => {
    const served = new Set(world.lines().map((line) => line.split(' ')[3]));
    missing.push(...stable.filter((host) => !served.has(host)));
  });
  return missing;
}

async function prepared(): Promise<{ readonly world: World; readonly missing: readonly string[] }> {
  const world = await openWorld(settings);
  await world.tick();
  await world.rollOut();
  const stable = Array.from({ length: 30 }, (_, index) => `stable-${index}.example.com`);
  for (const [index, host] of stable.entries()) {
    await world.ingress(`stable-${index}`, [host]);
  }
  await world.ingress('moving', ['moving.example.com']);
  await world.ingress('going', ['going.example.com', 'stable-1.example.com']);
  await world.tick();
  return { world, missing: guard(world, stable) };
}

/** An addition, a move, a change of class, a removal, and so many new objects that the rules spread out. */
async function story(world: World, to: Running): Promise<void> {
  await world.ingress('coming', ['coming.example.com', 'moving.example.com']);
  await world.tell('add', 'coming', { to });
  await world.change('moving', ({ spec }) => Object.assign(spec?.rules?.[0] ?? {}, { host: 'moved.example.com' }));
  await world.tell('update', 'moving', { to });
  await world.change('coming', ({ spec }) => Object.assign(spec ?? {}, { ingressClassName: 'other' }));
  await world.tell('update', 'coming', { to });
  await world.remove('going');
  await world.tell('delete', 'going', { to });
  await world.ingress(
    'many',
    Array.from({ length: 60 }, (_, index) => `many-${index}.example.com`),
  );
  await world.tell('add', 'many', { to });
}

async function dieAndHeal(death: Death): Promise<boolean> {
  const { world, missing } = await prepared();
  const mortal = await mortalAccess(world.sandbox, death);
  const victim = await startApp(corednsSync, { access: mortal.access, environment: settings });
  await story(world, victim);
  const died = mortal.dead();
  await mortal[Symbol.asyncDispose]();
  const heir = await world.another();
  expect((await send(heir.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).status).toBe(204);

  expect([death, world.lines().toSorted()]).toEqual([death, expected(world)]);
  expect([death, missing]).toEqual([death, []]);
  await victim.close();
  await world[Symbol.asyncDispose]();
  return died;
}

describe('faults', () => {
  it('killed between any two writes, one tick of another process makes the rules equal to the oracle, and no valid host was ever missing', async () => {
    let atWrite = 1;
    // Dead after a write is the same as dead before the next: so every point between two of them is visited.
    while (await dieAndHeal({ atWrite, when: 'after' })) {
      atWrite += 1;
    }

    expect(atWrite).toBeGreaterThan(10);
  });

  it('with events lost, doubled and reordered between two processes, one tick makes the rules equal to the oracle', async () => {
    const { world, missing } = await prepared();
    const second = await world.another();
    const random = seeded(7);
    const queue: { readonly change: 'add' | 'update' | 'delete'; readonly name: string }[] = [];
    for (let step = 0; step < 100; step += 1) {
      queue.push(...(await disturb(world, random, step)));
    }
    const arriving = disordered(queue, random);
    await Promise.all(
      [world.app, second].map(async (to, turn) => {
        for (const event of arriving.filter((_, index) => index % 2 === turn)) {
          expect([204, 503]).toContain(await world.tell(event.change, event.name, { to }));
        }
      }),
    );
    expect(await world.tick()).toBe(204);

    expect(world.lines().toSorted()).toEqual(expected(world));
    expect(missing).toEqual([]);
    await world[Symbol.asyncDispose]();
  });

  it('whatever an Ingress becomes, the increment and the full pass agree', async () => {
    const { world } = await prepared();
    const hosts = fc.uniqueArray(
      fc.constantFrom('a', 'b', 'c', 'd').map((name) => `${name}.example.com`),
      { maxLength: 3 },
    );
    const edits = fc.array(
      fc.record({ name: fc.constantFrom('x', 'y'), hosts, className: fc.constantFrom('nginx', 'other', 'none') }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        for (const change of changes) {
          await put(world, change);
          expect(await world.tell('update', change.name)).toBe(204);
          expect(world.lines().toSorted()).toEqual(expected(world));
        }
      }),
      { numRuns: 10 },
    );
    await world[Symbol.asyncDispose]();
  });
});

interface Edit {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly className: string;
}

async function put(world: World, { name, hosts, className }: Edit): Promise<void> {
  if (world.sandbox.api.get(ingresses, name, 'shop') !== undefined) {
    await world.remove(name);
  }
  if (hosts.length > 0) {
    await world.ingress(name, hosts, { className });
  }
}

async function disturb(
  world: World,
  random: () => number,
  step: number,
): Promise<readonly { readonly change: 'add' | 'update' | 'delete'; readonly name: string }[]> {
  const name = `web-${Math.floor(random() * 40)}`;
  const exists = world.sandbox.api.get(ingresses, name, 'shop') !== undefined;
  if (!exists) {
    await world.ingress(name, [`${name}.example.com`, `shared-${step % 5}.example.com`]);
    return [{ change: 'add', name }];
  }
  if (random() < 0.3) {
    await world.remove(name);
    return [{ change: 'delete', name }];
  }
  const className = random() < 0.3 ? 'other' : 'nginx';
  await world.change(name, ({ spec }) => {
    Object.assign(spec ?? {}, { ingressClassName: className });
    Object.assign(spec?.rules?.[0] ?? {}, { host: `${name}-${step}.example.com` });
  });
  return [{ change: 'update', name }];
}
