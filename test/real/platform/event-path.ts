import { binaryEvent, send } from '../../support/http.ts';
import { sourcesOf, startAdapter, untilWatching, type SourceManifest } from './adapter.ts';
import type { Cluster } from '../parts/cluster.ts';
import { startFunction, type RealFunction, type Shipped } from '../support/function.ts';
import type { Running } from '../parts/processes.ts';
import { startRelay, type Passed, type Relay } from '../support/relay.ts';

export interface EventPathOptions {
  /** Processes of the function, which take turns. */
  readonly functions?: number;
  /** Sets of adapters that watch the same, as an old and a new pod do during an update. */
  readonly overlapping?: number;
  /** Default: what the function ships with. */
  readonly sources?: readonly SourceManifest[];
  /** Another way for the function to the API server. */
  readonly server?: string;
}

/** API server → real adapters → relay → function, all of it at work. */
export interface EventPath extends AsyncDisposable {
  readonly functions: readonly RealFunction[];
  readonly function: RealFunction;
  /** One for each set of adapters. */
  readonly relays: readonly Relay[];
  readonly relay: Relay;
  /** Ends the adapters as a crash does; what they had sent is answered. */
  readonly killAdapters: () => Promise<void>;
  /** Starts adapters and waits until they watch; what arrives meanwhile does not reach the function. */
  readonly startAdapters: () => Promise<void>;
  /** Stops the adapters where they are; what they had sent is answered. */
  readonly freezeAdapters: () => Promise<void>;
  /** Lets them go on and waits until they watch; what arrives meanwhile does not reach the function. */
  readonly thawAdapters: () => Promise<void>;
  /** Sends a tick and resolves with its answer. */
  readonly tick: () => Promise<Passed>;
}

/** The function must have its rights. Nothing has reached it yet when this resolves. */
export async function openEventPath(
  cluster: Cluster,
  shipped: Shipped,
  { functions: count = 1, overlapping = 1, sources = sourcesOf(shipped.definition), server }: EventPathOptions = {},
): Promise<EventPath> {
  await using opened = new AsyncDisposableStack();
  const relays = await Promise.all(times(overlapping, startRelay));
  for (const { close } of relays) {
    opened.defer(close);
  }
  const functions = await Promise.all(
    times(count, (port) => startFunction(cluster, shipped, { port, ...(server === undefined ? {} : { server }) })),
  );
  for (const { running } of functions) {
    opened.defer(() => running.stop());
  }
  let adapters: readonly Running[] = [];

  async function startAdapters(): Promise<void> {
    swallow();
    adapters = await Promise.all(
      relays.flatMap(({ url: sink }, instance) =>
        sources.map((source) => startAdapter(cluster, source, { sink, instance })),
      ),
    );
    await adaptersReady();
  }

  async function adaptersReady(): Promise<void> {
    for (const { received } of relays) {
      await untilWatching(cluster, sources, received);
    }
    for (const relay of relays) {
      relay.to(...functions.map(({ url }) => url));
    }
  }

  async function killAdapters(): Promise<void> {
    await Promise.all(adapters.map((adapter) => adapter.stop()));
    adapters = [];
    await idle();
  }

  async function freezeAdapters(): Promise<void> {
    signalAdapters('SIGSTOP');
    await idle();
  }

  async function thawAdapters(): Promise<void> {
    swallow();
    signalAdapters('SIGCONT');
    await adaptersReady();
  }

  function signalAdapters(signal: NodeJS.Signals): void {
    for (const adapter of adapters) {
      adapter.signal(signal);
    }
  }

  function swallow(): void {
    for (const relay of relays) {
      relay.to();
    }
  }

  async function idle(): Promise<void> {
    await Promise.all(relays.map((relay) => relay.idle()));
  }

  const [relay] = relays;
  const [first] = functions;
  if (relay === undefined || first === undefined) {
    throw new Error('an event path needs a relay and a function');
  }

  opened.defer(killAdapters);
  await startAdapters();
  const path = opened.move();
  return {
    functions,
    function: first,
    relays,
    relay,
    killAdapters,
    startAdapters,
    freezeAdapters,
    thawAdapters,
    tick: () => sendTick(relay),
    [Symbol.asyncDispose]: () => path.disposeAsync(),
  };
}

async function sendTick({ url, passed }: Relay): Promise<Passed> {
  const event = binaryEvent({ type: 'dev.knative.sources.ping' });
  const id = event.headers?.['ce-id'];
  await send(url, event);
  const answered = passed.find(({ headers }) => headers['ce-id'] === id);
  if (answered === undefined) {
    throw new Error('the tick reached no function');
  }
  return answered;
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
