import { eventAbout } from '../../lib/kube/model/event.ts';
import { pointer, unchanged, type Plan, type Step } from '../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../lib/kube/model/resource.ts';
import { requirements, type Selector } from '../../lib/kube/model/selector.ts';
import type { Metadata } from '../../lib/kube/model/wire.ts';
import type { Config } from './config.ts';
import { rulesInForce } from './knowledge.ts';
import type { NamespaceFacts } from './match.ts';
import { poolMark, rulesConfigMap, skipMark, stateConfigMap } from './names.ts';
import { remember, type Remembered } from './plan-size.ts';
import { gateOf } from './render-webhook.ts';
import { poolOf, readPool, type Rule } from './rule.ts';
import { formatState, type PoolState, type State } from './state.ts';

/** What the rules ConfigMap says: rules, or why they cannot be used; nothing when there is none. */
export type RulesFound = { readonly rules: readonly Rule[]; readonly hash: string } | { readonly problem: string };

/** Rules that are wrong stay out of force: the last good ones go on. */
export function withRules(state: State, found: RulesFound | undefined, settingsHash: string): State {
  const { rules, problem: _problem, ...rest } = state;
  if (found === undefined) {
    return { ...rest, hash: settingsHash };
  }
  if ('problem' in found) {
    const good = rules === undefined ? { hash: settingsHash } : { rules };
    return { ...rest, ...good, problem: found.problem };
  }
  return { ...rest, rules: found.rules, hash: found.hash };
}

/** Of each namespace that was looked at: what it is like, or that it is gone. */
export type NamespacesSeen = ReadonlyMap<string, Metadata | undefined>;

export interface NamespacesRead {
  readonly state: State;
  /** All that is known at this moment, also of those that the state has no room for. */
  readonly known: ReadonlyMap<string, NamespaceFacts>;
  readonly skipped: readonly string[];
}

/** Keeps of each namespace what admission will ask. A complete look forgets those that were not seen. */
export function withNamespaces(
  state: State,
  seen: NamespacesSeen,
  { complete, config }: { readonly complete: boolean; readonly config: Config },
): NamespacesRead {
  const { extent: widest = 'all', ...rest } = state;
  const keys = labelKeys(state, config);
  const namespaces = new Map(complete ? [] : state.namespaces);
  for (const [name, metadata] of seen) {
    if (metadata === undefined) {
      namespaces.delete(name);
    } else {
      namespaces.set(name, factsOf(metadata, keys));
    }
  }
  const remembered = remember(namespaces, {
    gate: gateOf(state.rules, config),
    selectors: selectorsOf(state),
    widest: complete ? 'all' : widest,
  });
  const extent = remembered.extent === 'all' ? {} : { extent: remembered.extent };
  return {
    state: { ...rest, namespaces: remembered.namespaces, ...extent },
    known: namespaces,
    skipped: [...wrongPools(seen), ...tooMany(remembered)],
  };
}

function wrongPools(seen: NamespacesSeen): string[] {
  return [...seen].flatMap(([name, metadata]) => {
    const pool = metadata?.annotations?.[poolMark];
    return pool === undefined || readPool(pool) !== undefined
      ? []
      : [`namespace ${name}: ${poolMark} must be a label selector of nodes such as key=value`];
  });
}

function tooMany({ extent, isCut }: Remembered): string[] {
  const lost = isCut ? ', and not all of these: the rules hold in some that opted out or name a pool' : '';
  return extent === 'all' ? [] : [`more namespaces than the state can hold: only ${extent} ones are remembered${lost}`];
}

/** What the rules ask of the labels of namespaces. */
function selectorsOf({ rules = [] }: State): readonly Selector[] {
  return rules.map(({ match }) => requirements(match.namespaceSelector ?? {}));
}

/** The labels of namespaces that somebody asks for. */
function labelKeys(state: State, config: Config): readonly string[] {
  const asked = [...gateOf(undefined, config), ...selectorsOf(state).flat()];
  return [...new Set(asked.map(({ key }) => key))].sort();
}

function factsOf({ labels = {}, annotations = {} }: Metadata, keys: readonly string[]): NamespaceFacts {
  const asked = keys.flatMap((key) => (Object.hasOwn(labels, key) ? [[key, labels[key] ?? '']] : []));
  const expressions = readPool(annotations[poolMark] ?? '');
  return {
    labels: Object.fromEntries(asked) as Record<string, string>,
    ...(annotations[skipMark] === 'true' ? { skip: true } : {}),
    ...(expressions === undefined ? {} : { pool: poolOf({ term: { matchExpressions: [...expressions] } }) }),
  };
}

/** Every pool that a rule or a namespace names. */
export function poolsOf(state: State, config: Config): readonly string[] {
  const named = [...state.namespaces.values()].flatMap(({ pool }) => (pool === undefined ? [] : [pool]));
  return [...new Set([...rulesInForce(state, config).map(poolOf), ...named])].sort();
}

/** A pool counts as soon as a node is seen, and for a while after the last one was. What was not looked at stays. */
export function withPools(
  state: State,
  seen: ReadonlyMap<string, boolean>,
  { config, now }: { readonly config: Config; readonly now: Date },
): State {
  const graceMs = config.POOL_GONE_GRACE_SECONDS * 1000;
  const pools = poolsOf(state, config).flatMap((pool): [string, PoolState][] => {
    const found = seen.get(pool);
    const before = state.pools.get(pool);
    const after = found === undefined ? before : poolAfter(before, found, { graceMs, now });
    return after === undefined ? [] : [[pool, after]];
  });
  return { ...state, pools: new Map(pools) };
}

function poolAfter(
  before: PoolState | undefined,
  seen: boolean,
  { graceMs, now }: { readonly graceMs: number; readonly now: Date },
): PoolState {
  if (before?.active === true && !seen) {
    return missing(before, graceMs, now);
  }
  return { active: seen, seen, since: before?.active === seen ? before.since : now.toISOString() };
}

/** The last node may be on its way back: for a while the pool still counts. */
function missing({ since, goneSince = '' }: PoolState, graceMs: number, now: Date): PoolState {
  const gone = goneSince === '' ? now.toISOString() : goneSince;
  return now.getTime() - Date.parse(gone) < graceMs
    ? { active: true, seen: false, since, goneSince: gone }
    : { active: false, seen: false, since: now.toISOString() };
}

/** Writes the parts of the state that differ, and tells of rules that have just turned out wrong. */
export function plan(
  {
    stored,
    before,
    rules,
  }: { readonly stored: ConfigMap | undefined; readonly before: State; readonly rules: ConfigMap | undefined },
  after: State,
  namespace: string,
): Plan {
  const news =
    after.problem !== undefined && after.problem !== before.problem ? [wrongRules(rules, after.problem)] : [];
  return { steps: [...news, ...stateSteps(stored, formatState(after), namespace)] };
}

function wrongRules(rules: ConfigMap | undefined, problem: string): Step {
  return eventAbout(
    configMaps,
    { metadata: { name: rulesConfigMap, ...rules?.metadata } },
    { type: 'Warning', reason: 'InvalidRules', note: `the rules before stay in force: ${problem}` },
  );
}

function stateSteps(stored: ConfigMap | undefined, data: Record<string, string>, namespace: string): Step[] {
  const place = { name: stateConfigMap, namespace };
  if (stored === undefined) {
    return [{ do: 'create', resource: configMaps, object: { metadata: place, data } as ConfigMap, why: 'first look' }];
  }
  const present = stored.data ?? {};
  const changed = Object.entries(data).filter(([key, text]) => present[key] !== text);
  const gone = ['coverage.json'].filter((key) => Object.hasOwn(present, key) && data[key] === undefined);
  if (changed.length + gone.length === 0) {
    return [];
  }
  const operations = [
    unchanged(stored),
    ...(stored.data === undefined ? [{ op: 'add' as const, path: pointer('data'), value: {} }] : []),
    ...changed.map(([key, value]) => ({ op: 'add' as const, path: pointer('data', key), value })),
    ...gone.map((key) => ({ op: 'remove' as const, path: pointer('data', key) })),
  ];
  const why = `changed: ${[...changed.map(([key]) => key), ...gone].join(', ')}`;
  return [{ do: 'patch', resource: configMaps, ...place, operations, why }];
}
