import type { Operation } from 'fast-json-patch';
import type { Context } from '../../../lib/function/definition.ts';
import { Failure } from '../../../lib/base/failure.ts';
import { pointer, unchanged, type Step } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { pause } from '../../../lib/base/pause.ts';
import { commands, queueNames, stateName } from '../names.ts';
import { decode, encode, partsOf, renderPart } from './codec.ts';
import { overlap } from './parts.ts';
import type { State } from './state.ts';

/** The state in its ConfigMap. Every write is a compare-and-swap. */
export interface Store {
  /** As last read or written. */
  readonly state: () => State;
  /** What an annotation of the ConfigMap asks for. */
  readonly asked: () => Commands;
  readonly load: () => Promise<State>;
  /** Writes what the change makes of the state; a change that was overtaken is made again from what is there then. */
  readonly update: (change: Change, done?: readonly (keyof Commands)[]) => Promise<State>;
}

/** The next state, or the same one if there is nothing to change. */
export type Change = (state: State) => State;

export interface Commands {
  readonly scan?: string;
  readonly resume?: string;
}

interface Held {
  readonly state: State;
  readonly object: ConfigMap | undefined;
  readonly parts: readonly (ConfigMap | undefined)[];
}

const tries = 8;

export async function openStore({
  kube,
  namespace,
  signal,
}: Pick<Context, 'kube' | 'namespace' | 'signal'>): Promise<Store> {
  let held = await read();

  async function read(): Promise<Held> {
    const object = await kube.get(configMaps, { namespace, name: stateName });
    const data = object?.data ?? {};
    const parts = await readParts(0, partsOf(data));
    return { object, parts, state: decode({ data, parts: parts.map(textOf) }) };
  }

  function readParts(from: number, to: number): Promise<readonly (ConfigMap | undefined)[]> {
    return Promise.all(queueNames.slice(from, to).map((name) => kube.get(configMaps, { namespace, name })));
  }

  /** Who dies between two writes loses nothing: what joins a further part is there before the state, what left goes after. */
  async function write(state: State, done: readonly (keyof Commands)[]): Promise<void> {
    const { data, parts, state: kept } = encode(state);
    const known = [...held.parts, ...(await readParts(held.parts.length, parts.length))];
    const wider = await writeParts(
      known,
      parts.map((items, index) => overlap(textOf(held.parts[index]), items)),
    );
    const main = stepFor(stateName, held.object, data, done);
    const outcomes = await kube.run({ steps: main === undefined ? [] : [main] });
    held = { ...held, object: outcomes[0]?.object ?? held.object, state: kept };
    const exact = await writeParts(
      wider,
      wider.map((_part, index) => parts[index] ?? renderPart([])),
    ).catch(unlessOvertaken); // what is left over harms nobody, and the change has been made: not once more
    if (exact !== known) {
      held = await read();
    }
  }

  /** The same as before if nothing is to be written. */
  async function writeParts(
    known: readonly (ConfigMap | undefined)[],
    texts: readonly string[],
  ): Promise<readonly (ConfigMap | undefined)[]> {
    const steps = texts.map((items, index) => stepFor(queueNames[index] ?? '', known[index], { items }, []));
    const wanted = steps.filter((step) => step !== undefined);
    if (wanted.length === 0) {
      return known;
    }
    const outcomes = [...(await kube.run({ steps: wanted }))];
    return known.map((part, index) => (steps[index] === undefined ? part : outcomes.shift()?.object));
  }

  function stepFor(
    name: string,
    object: ConfigMap | undefined,
    data: Readonly<Record<string, string>>,
    done: readonly (keyof Commands)[],
  ): Step | undefined {
    const why = 'state';
    if (object === undefined) {
      const fresh: ConfigMap = { metadata: { namespace, name }, data };
      return { do: 'create', resource: configMaps, object: fresh, why };
    }
    const operations = [...differences(object.data, data), ...removals(object, done)];
    return operations.length === 0
      ? undefined
      : { do: 'patch', resource: configMaps, namespace, name, operations: [unchanged(object), ...operations], why };
  }

  async function update(change: Change, done: readonly (keyof Commands)[] = []): Promise<State> {
    for (let attempt = 1; ; attempt += 1) {
      const next = change(held.state);
      if (next === held.state && done.length === 0) {
        return next;
      }
      try {
        await write(next, done);
        return held.state;
      } catch (error) {
        if (attempt === tries) {
          throw error;
        }
        unlessOvertaken(error);
        await pause(Math.random() * 20 * attempt, signal);
        held = await read();
      }
    }
  }

  return {
    state: () => held.state,
    asked: () => askedBy(held.object),
    load: async () => {
      held = await read();
      return held.state;
    },
    update,
  };
}

/** Throws any failure but that somebody else has written in between. */
function unlessOvertaken(error: unknown): undefined {
  if (!(error instanceof Failure && error.kind === 'conflict')) {
    throw error;
  }
}

/** Nothing, where there is no such part. */
function textOf(part: ConfigMap | undefined): string {
  return part?.data?.['items'] ?? '';
}

function askedBy(object: ConfigMap | undefined): Commands {
  const { [commands.scan]: scan, [commands.resume]: resume } = object?.metadata?.annotations ?? {};
  return { ...(scan !== undefined && { scan }), ...(resume !== undefined && { resume }) };
}

function differences(
  before: Readonly<Record<string, string>> | undefined,
  after: Readonly<Record<string, string>>,
): Operation[] {
  if (before === undefined) {
    return [{ op: 'add', path: pointer('data'), value: after }];
  }
  const changed = Object.entries(after).filter(([key, text]) => before[key] !== text);
  const gone = Object.keys(before).filter((key) => !(key in after));
  return [
    ...changed.map(([key, value]): Operation => ({ op: 'add', path: pointer('data', key), value })),
    ...gone.map((key): Operation => ({ op: 'remove', path: pointer('data', key) })),
  ];
}

/** A command is struck off together with the state that it led to. */
function removals(object: ConfigMap, done: readonly (keyof Commands)[]): Operation[] {
  return done
    .map((command) => commands[command])
    .filter((annotation) => object.metadata?.annotations?.[annotation] !== undefined)
    .map((annotation) => ({ op: 'remove', path: pointer('metadata', 'annotations', annotation) }));
}
