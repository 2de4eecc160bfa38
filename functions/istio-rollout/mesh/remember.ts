import type { Config } from '../config.ts';
import { withTrigger } from '../state/pending.ts';
import type { Known, KnownControlPlane, KnownWebhooks, State } from '../state/state.ts';
import type { Mesh } from './mesh.ts';

/**
 * The state with what the mesh is now. Metadata says when an object was written; the content says whether that changed
 * anything, so the time of the last real change stays while the content does.
 */
export function remember(state: State, mesh: Mesh, now: number): State {
  const next = {
    controlPlanes: merge<KnownControlPlane>(state.controlPlanes, mesh.controlPlanes),
    meshConfigs: merge<Known>(state.meshConfigs, mesh.meshConfigs),
    webhooks: merge<KnownWebhooks>(state.webhooks, withoutInjectors(mesh)),
    namespaces: mergeNamespaces(state.namespaces, mesh, now),
  };
  const isSame = (Object.keys(next) as (keyof typeof next)[]).every((key) => sameHashes(state[key], next[key]));
  const { namespaces: _found, ...omitted } = state.omitted;
  return isSame ? state : { ...state, ...next, omitted };
}

type ByName<T> = Readonly<Record<string, T>>;

function merge<T extends Known>(before: ByName<T>, now: ByName<T>): ByName<T> {
  return Object.fromEntries(
    Object.entries(now).map(([name, value]) => {
      const known = before[name];
      return [name, known?.hash === value.hash ? known : value];
    }),
  );
}

function withoutInjectors({ webhooks }: Mesh): ByName<KnownWebhooks> {
  return Object.fromEntries(Object.entries(webhooks).map(([name, { injectors: _injectors, ...rest }]) => [name, rest]));
}

/** Taking a label away moves no time in the metadata: a change that was noticed happened by now at the latest. */
function mergeNamespaces(before: ByName<Known>, { namespaces }: Mesh, now: number): ByName<Known> {
  const present = Object.entries(namespaces).filter(([, { isGone }]) => !isGone);
  return Object.fromEntries(
    present.map(([name, { hash, changedAt }]) => {
      const known = before[name];
      return [
        name,
        known === undefined || known.hash === hash ? (known ?? { hash, changedAt }) : { hash, changedAt: now },
      ];
    }),
  );
}

function sameHashes(before: ByName<Known>, after: ByName<Known>): boolean {
  const names = Object.keys(after);
  return names.length === Object.keys(before).length && names.every((name) => before[name]?.hash === after[name]?.hash);
}

/** What a scan has to look at: everything, for the reasons that are given, or some namespaces. */
export interface Scope {
  readonly all: readonly string[];
  readonly namespaces: readonly string[];
}

/** What changed between two states that a scan would see. */
export function scopeOfChange(before: State, after: State): Scope {
  return {
    all: [
      ...changedNames(before.controlPlanes, after.controlPlanes).map((name) => `ConfigMap ${name}`),
      ...changedNames(before.meshConfigs, after.meshConfigs).map((name) => `ConfigMap ${name}`),
      ...changedNames(before.webhooks, after.webhooks).map((name) => `MutatingWebhookConfiguration ${name}`),
    ],
    namespaces: Object.keys(after.namespaces).filter((name) => {
      const known = before.namespaces[name];
      return known !== undefined && known.hash !== after.namespaces[name]?.hash; // a new one has no pods yet
    }),
  };
}

function changedNames(before: ByName<Known>, after: ByName<Known>): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name]?.hash !== after[name]?.hash);
}

/** A changed control plane concerns all namespaces, and istiod takes a moment to see it; labels count at once. */
export function withScope(state: State, { all, namespaces }: Scope, now: number, config: Config): State {
  if (all.length > 0) {
    return withTrigger(state, { reasons: all, delayMs: config.ISTIOD_CONFIG_READ_DELAY }, now, config);
  }
  const reasons = namespaces.map((name) => `Namespace ${name}`);
  return namespaces.length > 0 ? withTrigger(state, { namespaces, reasons, delayMs: 0 }, now, config) : state;
}
