import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { know, type Knowledge } from './knowledge.ts';
import { reportState, reportStateAge } from './measures.ts';
import { stateConfigMap } from './names.ts';
import { emptyState, readState, type State } from './state.ts';

/** What this process last read of the state. */
interface Snapshot {
  knowledge: Knowledge | undefined;
  /** What it was made from, to notice that nothing changed. */
  version: string | undefined;
  readAt: Date | undefined;
  /** Whether there was a try to read it: whatever came of that, waiting longer would not help. */
  tried: boolean;
}

const snapshotKey = memoryKey<Snapshot>(() => ({
  knowledge: undefined,
  version: undefined,
  readAt: undefined,
  tried: false,
}));

/** What admission decides from. Before anything was read no pool counts, so nothing is changed. */
export function knowledgeOf(context: Context<Config>): Knowledge {
  const snapshot = context.memory(snapshotKey);
  snapshot.knowledge ??= know(emptyState, context.config, context);
  return snapshot.knowledge;
}

/** Takes over what this process has just found out itself. */
export function adopt(context: Context<Config>, state: State): void {
  const snapshot = context.memory(snapshotKey);
  snapshot.knowledge = know(state, context.config, context);
  snapshot.version = undefined;
  snapshot.readAt = context.now();
  snapshot.tried = true;
  reportState(context, state);
}

/** Reads the state again; while the API server is away the last one stays, or the one that is mounted. */
export async function refresh(context: Context<Config>): Promise<void> {
  const snapshot = context.memory(snapshotKey);
  try {
    const stored = await context.kube.get(configMaps, { namespace: context.namespace, name: stateConfigMap });
    snapshot.readAt = context.now();
    const version = stored?.metadata?.resourceVersion;
    if (version === undefined || version !== snapshot.version) {
      const state = readState(stored?.data);
      // One that somebody deleted, or that a later release wrote, is rebuilt at the next tick; what is known stays.
      if (stored !== undefined && state !== emptyState) {
        adopt(context, state);
      }
      snapshot.version = version;
    }
  } catch (error) {
    if (snapshot.knowledge === undefined) {
      adopt(context, await mountedState(context.config.STATE_DIR));
      snapshot.readAt = undefined;
    }
    throw error;
  } finally {
    snapshot.tried = true;
    reportStateAge(context, snapshot.readAt);
  }
}

/** The state as the kubelet mounted it, for a start while the API server is away; empty where there is none. */
async function mountedState(directory: string): Promise<State> {
  const keys = ['config.json', 'pools.json', 'namespaces.json'];
  const texts = await Promise.all(keys.map((key) => readFile(join(directory, key), 'utf8').catch(() => undefined)));
  const present = keys.flatMap((key, index) => (texts[index] === undefined ? [] : [[key, texts[index]]]));
  return readState(Object.fromEntries(present) as Record<string, string>);
}

/** No request should come before the first look. */
export function notReady(context: Context<Config>): string | undefined {
  return context.memory(snapshotKey).tried ? undefined : 'has not read its state yet';
}
