import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { queueNames, stateName } from '../names.ts';
import { counted, emptyState, type Candidate, type InFlight, type State } from '../state/state.ts';
import { openStore, type Change, type Store } from '../state/store.ts';
import { createKube, type Kube } from '../../../lib/kube/client.ts';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import { configMaps, namespaces, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { createTransport, type Transport } from '../../../lib/kube/transport.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';

const namespace = 'kube-reflex';
const { signal } = new AbortController();

let sandbox: Sandbox;
let transport: Transport;
let kube: Kube;

beforeEach(async () => {
  sandbox = await startSandbox({ controllers: false });
  transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
  kube = createKube({
    transport,
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    fieldManager: 'kube-reflex.dev/istio-rollout',
  });
  await sandbox.api.create(namespaces, { metadata: { name: namespace } });
});

afterEach(async () => {
  transport.close();
  await sandbox.close();
});

/** A process that is killed after so many writes. */
function mortal(writes: number): Kube {
  let left = writes;
  return {
    ...kube,
    run: async ({ steps }) => {
      const outcomes = [];
      for (const step of steps) {
        if (left === 0) {
          throw new Error('killed');
        }
        left -= 1;
        outcomes.push(...(await kube.run({ steps: [step] })));
      }
      return outcomes;
    },
  };
}

function open(by: Kube = kube): Promise<Store> {
  return openStore({ kube: by, namespace, signal });
}

function candidates(from: number, to: number): readonly Candidate[] {
  return Array.from({ length: to - from }, (_, index): Candidate => ({
    ...{ kind: 'Deployment', namespace: 'shop', name: `web-${from + index}`.padEnd(200, 'x'), uid: `u${from + index}` },
    ...{ reason: 'image', priority: 0, isGateway: false, fingerprint: 'f'.repeat(64) },
  }));
}

function queued(items: readonly Candidate[]): Change {
  return (state) => ({ ...state, queue: { configFingerprint: 'c', items } });
}

/** The restart of that candidate is decided upon. */
function begun(uid: string): Change {
  return (state) => {
    const rest = state.queue.items.filter((each) => each.uid !== uid);
    const [item] = state.queue.items.filter((each) => each.uid === uid);
    if (item === undefined) {
      return state; // it has begun already
    }
    const { part: _part, wait: _wait, fingerprint = '', ...identity } = item;
    const restart = { by: 'me', attempt: 1, intentAt: 1, deadline: 2, pods: 1, phase: 'Intent' } as const;
    const intent: InFlight = { ...identity, ...restart, fingerprint };
    return { ...state, queue: { ...state.queue, items: rest }, inflight: [...state.inflight, intent] };
  };
}

/** So much else to remember that the queue must leave the state. */
function crowded(state: State): State {
  const known = Array.from({ length: 9_000 }, (_, index) => [`team-${index}`, { hash: 'f'.repeat(16), changedAt: 1 }]);
  return { ...state, namespaces: Object.fromEntries(known) as State['namespaces'] };
}

function uidsOf({ queue, inflight }: State): readonly string[] {
  return [...queue.items, ...inflight].map(({ uid }) => uid).sort();
}

function partSizes(): readonly number[] {
  return queueNames.map((name) => {
    const { data } = (sandbox.api.get(configMaps, name, namespace) ?? {}) as ConfigMap;
    return data?.['items']?.length ?? 0;
  });
}

const cases: readonly { readonly what: string; readonly before: Change; readonly change: Change }[] = [
  { what: 'grows out of the state', before: queued(candidates(0, 10)), change: queued(candidates(0, 2_600)) },
  { what: 'loses one of its last', before: queued(candidates(0, 2_600)), change: begun('u2599') },
  { what: 'has to leave the state', before: queued(candidates(0, 800)), change: crowded },
  { what: 'shrinks to what the state holds', before: queued(candidates(0, 2_600)), change: queued(candidates(0, 10)) },
  { what: 'grows and shrinks', before: queued(candidates(0, 2_600)), change: queued(candidates(100, 2_700)) },
];

describe.each(cases)('a long queue that $what', ({ before, change }) => {
  it('loses no candidate and doubles none, wherever the process is killed', async () => {
    const old = new Set(uidsOf(before(emptyState)));
    const kept = uidsOf(change(before(emptyState))).filter((uid) => old.has(uid));
    let isDone = false;
    for (let writes = 0; !isDone; writes += 1) {
      await (await open()).update(() => before(emptyState));
      const found: string[][] = [];
      isDone = await (await open(mortal(writes))).update(change).then(
        () => true,
        () => false,
      );

      const store = await open();
      found.push([...uidsOf(store.state())]);
      await store.update(change);
      found.push([...uidsOf((await open()).state())]);

      const [after = [], healed] = found;
      const present = new Set(after);
      expect(kept.filter((uid) => !present.has(uid))).toEqual([]);
      expect(present.size).toBe(after.length);
      expect(healed).toEqual(uidsOf(change(before(emptyState))));
    }
  });
});

describe('a queue that is no longer long', () => {
  it('leaves nothing behind in further ConfigMaps', async () => {
    const store = await open();
    await store.update(queued(candidates(0, 2_600)));
    const long = partSizes();

    await store.update(queued(candidates(0, 10)));

    expect(Math.max(...long)).toBeGreaterThan(100_000);
    expect(Math.max(...partSizes())).toBeLessThan(100);
  });
});

describe('a queue that somebody else touches before its last write', () => {
  /** Once the state is written, somebody is faster with the first further ConfigMap. */
  function overtaken(): Kube {
    return {
      ...kube,
      run: async (plan) => {
        const outcomes = await kube.run(plan);
        const [part] = queueNames.map((name) => sandbox.api.get(configMaps, name, namespace));
        if (part !== undefined && plan.steps.some((step) => 'name' in step && step.name === stateName)) {
          await sandbox.api.update(configMaps, { ...part, metadata: { ...part.metadata, labels: { touched: 'yes' } } });
        }
        return outcomes;
      },
    };
  }

  it('has changed once', async () => {
    await (await open()).update(queued(candidates(0, 2_600)));

    const store = await open(overtaken());
    await store.update((state) => counted(queued(candidates(0, 10))(state), 'restarts'));

    expect(store.state().counters).toEqual({ restarts: 1 });
    expect(uidsOf((await open()).state())).toEqual(uidsOf(queued(candidates(0, 10))(emptyState)));
  });
});
