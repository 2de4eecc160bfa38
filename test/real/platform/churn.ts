import type { Client } from '../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../lib/sandbox/test/contract/scratch.ts';

/** A number from 0 up to the given one, by chance that can be repeated. */
export type Dice = (sides: number) => number;

/** A linear congruential generator: equal seeds give equal runs, which is all that is asked of it. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Only objects with this label are of interest, where a watch selects. */
export const selected = { watched: 'yes' };

/** A name under which an object comes, changes and goes. */
interface Slot {
  readonly kind: keyof typeof kinds;
  readonly collection: string;
  readonly name: string;
  exists: boolean;
  held: boolean;
}

const kinds = {
  ConfigMap: { collection: '/api/v1/namespaces/default/configmaps', content: configMapContent },
  Ingress: { collection: '/apis/networking.k8s.io/v1/namespaces/default/ingresses', content: ingressContent },
  Namespace: { collection: '/api/v1/namespaces', content: namespaceContent },
};

/** What the names of all objects of a churn begin with. */
export const churnPrefix = 'churn-';

const slotsOfKind = 12;
const workers = 6;
const merge = { 'content-type': 'application/merge-patch+json' };

/** Objects of three kinds that come, change, come to match a selector, cease to, and go. */
export interface Churn {
  /** Runs this number of random operations; those on one object are in order, others at the same time. */
  readonly run: (operations: number) => Promise<void>;
}

export function createChurn(client: Client, seed: number): Churn {
  const slots = (Object.keys(kinds) as Slot['kind'][]).flatMap((kind) =>
    Array.from({ length: slotsOfKind }, (_, index): Slot => {
      const name = `${churnPrefix}${String(index)}`;
      return { kind, collection: kinds[kind].collection, name, exists: false, held: false };
    }),
  );
  const shares = Array.from({ length: workers }, (_, worker) => ({
    dice: createDice(seed + worker),
    mine: slots.filter((_slot, index) => index % workers === worker),
  }));
  return {
    run: async (operations) => {
      await Promise.all(
        shares.map(async ({ dice, mine }) => {
          for (let done = 0; done < operations / workers; done += 1) {
            const slot = mine[dice(mine.length)];
            if (slot !== undefined) {
              await operate(client, slot, dice);
            }
          }
        }),
      );
    },
  };
}

async function operate(client: Client, slot: Slot, dice: Dice): Promise<void> {
  if (!slot.exists) {
    await create(client, slot, dice);
  } else if (dice(6) === 0) {
    await remove(client, slot);
  } else {
    await change(client, slot, dice);
  }
}

async function create(client: Client, slot: Slot, dice: Dice): Promise<void> {
  const { kind, collection, name } = slot;
  const { metadata, ...content } = kinds[kind].content(dice);
  const body = { ...content, metadata: { ...metadata, name, labels: dice(2) === 0 ? selected : {} } };
  expectCode(201, await client.call('POST', collection, { body }));
  slot.exists = true;
}

/** Finalizers, also those of a namespace, are removed explicitly; the object changes before it is gone. */
async function remove(client: Client, slot: Slot): Promise<void> {
  const { kind, collection, name, held } = slot;
  const path = `${collection}/${name}`;
  expectCode(200, await client.call('DELETE', path));
  if (held) {
    expectCode(200, await client.call('PATCH', path, { body: { metadata: { finalizers: null } }, headers: merge }));
  }
  if (kind === 'Namespace') {
    const body = { metadata: { name }, spec: { finalizers: [] } };
    expectCode(200, await client.call('PUT', `${path}/finalize`, { body }));
  }
  slot.exists = false;
  slot.held = false;
}

async function change(client: Client, slot: Slot, dice: Dice): Promise<void> {
  const { kind, collection, name } = slot;
  const path = `${collection}/${name}`;
  const changes: (() => object)[] = [
    () => kinds[kind].content(dice),
    () => ({ metadata: { labels: { watched: dice(2) === 0 ? null : 'yes' } } }),
    () => ({ metadata: { annotations: { note: text(dice) } } }),
    () => {
      slot.held = dice(2) === 0;
      return { metadata: { finalizers: slot.held ? ['example.com/hold'] : null } };
    },
  ];
  if (kind === 'Ingress' && dice(5) === 0) {
    const body = { status: { loadBalancer: { ingress: [{ ip: `10.0.0.${String(dice(250))}` }] } } };
    expectCode(200, await client.call('PATCH', `${path}/status`, { body, headers: merge }));
    return;
  }
  const body = changes[dice(changes.length)]?.();
  expectCode(200, await client.call('PATCH', path, { body, headers: merge }));
}

interface Content {
  readonly metadata?: object;
  readonly data?: object;
  readonly spec?: object;
}

function configMapContent(dice: Dice): Content {
  return { data: { [`key-${String(dice(5))}`]: text(dice) } };
}

function ingressContent(dice: Dice): Content {
  const backend = { service: { name: 'web', port: { number: 80 + dice(3) } } };
  const paths = [{ path: '/', pathType: 'Prefix', backend }];
  return { spec: { rules: [{ host: `h${String(dice(100))}.example`, http: { paths } }] } };
}

function namespaceContent(dice: Dice): Content {
  return { metadata: { annotations: { [`team-${String(dice(3))}`]: text(dice) } } };
}

/** With characters that JSON, HTML-minded encoders and UTF-8 treat in different ways. */
function text(dice: Dice): string {
  const pieces = ['plain', 'é', '日本', '🙂', '"quoted"', '<a&b>', '\u2028', '\n', '\\', ' '];
  return Array.from({ length: dice(12) }, () => pieces[dice(pieces.length)] ?? '').join('');
}
