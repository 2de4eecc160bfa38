import type { Selector } from '../../lib/kube/model/selector.ts';
import type { Config } from './config.ts';
import { canonical, createMatcher, type Matcher, type NamespaceFacts } from './match.ts';
import type { PreferredTerm } from './patch.ts';
import { gateOf } from './render-webhook.ts';
import { poolOf, readPool, type Expression, type Rule } from './rule.ts';
import type { State } from './state.ts';

/** All that admission decides from, prepared so that a decision costs little. */
export interface Knowledge {
  readonly rules: readonly ReadyRule[];
  /** By the pool that a namespace names. */
  readonly overrides: ReadonlyMap<string, ReadyRule>;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
  /** Labels without which a namespace is none of our business. */
  readonly gate: Selector;
  readonly omitted: ReadonlySet<string>;
  readonly skipPinned: boolean;
  /** Whether a changed pod says so itself. */
  readonly annotate: boolean;
  /** Of the rules in force. */
  readonly hash: string;
}

export interface ReadyRule {
  readonly rule: Rule;
  readonly pool: string;
  /** Whether the pool has nodes. */
  readonly active: boolean;
  readonly mismatch: Matcher;
  readonly preference: PreferredTerm;
  /** What it does, for the annotation of a pod. */
  readonly says: string;
  /** The annotation for pods that come while the pool is away. */
  readonly fallback?: { readonly key: string; readonly value: string };
}

/** Where the function runs: pods of its own namespace must be able to start without it. */
export interface Site {
  readonly namespace: string;
}

export function know(state: State, config: Config, { namespace }: Site): Knowledge {
  const rules = rulesInForce(state, config);
  const gate = gateOf(state.rules, config);
  const shared = { gate: canonical(gate), pools: state.pools };
  const ready = rules.map((rule) => makeReady(rule, shared));
  const named = [...new Set([...state.namespaces.values()].flatMap(({ pool }) => (pool === undefined ? [] : [pool])))];
  return {
    rules: state.rules === undefined ? ready.map((each) => withFallback(each, config)) : ready,
    overrides: new Map(named.map((pool) => [pool, makeReady(overrideRule(pool, config), shared)])),
    namespaces: state.namespaces,
    gate,
    omitted: new Set([...config.OMIT_NAMESPACES, namespace]),
    skipPinned: config.SKIP_PINNED,
    annotate: config.EXPLAIN === 'annotation' || config.EXPLAIN === 'both',
    hash: state.hash,
  };
}

/** The rules of the ConfigMap, or the one that the settings stand for. */
export function rulesInForce({ rules }: Pick<State, 'rules'>, config: Config): readonly Rule[] {
  return rules ?? [settingsRule(config)];
}

function settingsRule({ POOL_LABEL_KEY, POOL_NAME, WEIGHT }: Config): Rule {
  return preferring('default', [{ key: POOL_LABEL_KEY, operator: 'In', values: [POOL_NAME] }], WEIGHT);
}

/** The rule that a namespace makes for itself. */
function overrideRule(pool: string, { WEIGHT }: Config): Rule {
  return preferring('namespace', readPool(pool) ?? [], WEIGHT);
}

function preferring(name: string, expressions: readonly Expression[], weight: number): Rule {
  const term = { matchExpressions: [...expressions] };
  return { name, match: {}, term, weight, mode: 'preferred', tolerations: [], stop: false };
}

interface Shared {
  readonly gate: string;
  readonly pools: State['pools'];
}

function makeReady(rule: Rule, { gate, pools }: Shared): ReadyRule {
  const pool = poolOf(rule);
  return {
    rule,
    pool,
    active: pools.get(pool)?.active ?? false,
    mismatch: createMatcher(rule.match, gate),
    preference: { weight: rule.weight, preference: rule.term },
    says: `${rule.name}: ${rule.mode === 'required' ? 'requires' : `prefers (weight ${rule.weight})`} ${pool}`,
  };
}

function withFallback(ready: ReadyRule, { FALLBACK_MODE, POOL_LABEL_KEY, POOL_NAME }: Config): ReadyRule {
  return FALLBACK_MODE === 'annotate' ? { ...ready, fallback: { key: POOL_LABEL_KEY, value: POOL_NAME } } : ready;
}
