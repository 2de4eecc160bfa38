import { by } from '../../lib/base/order.ts';
import type { ConfigMap } from '../../lib/kube/model/resource.ts';
import type { NamespaceFacts } from './match.ts';
import { extents, type Extent } from './plan-size.ts';
import { readPool, readRules, type Rule } from './rule.ts';
import { isRecord, recordOf, type Fields } from '../../lib/base/json.ts';

/** What the function has found out, kept in a ConfigMap: losing it costs a rescan. */
export interface State {
  readonly pools: ReadonlyMap<string, PoolState>;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
  /** Which namespaces these are, where all are too many. */
  readonly extent?: Extent;
  /** The last good rules of the ConfigMap; absent while there is no such ConfigMap and the settings count. */
  readonly rules?: readonly Rule[];
  /** Of the rules in force. */
  readonly hash: string;
  /** What is wrong with rules that are therefore not in force. */
  readonly problem?: string;
  readonly coverage?: Coverage;
}

export interface PoolState {
  readonly active: boolean;
  /** Whether a node was seen at the last look. */
  readonly seen: boolean;
  /** When it became active, or ceased to be. */
  readonly since: string;
  /** When an active pool was first found without nodes. */
  readonly goneSince?: string;
}

/** Running pods that a rule is for and that don't show it. */
export interface Coverage {
  readonly uncovered: number;
  /** By `namespace/Kind/name` of their controller, those with most pods first. */
  readonly workloads: Readonly<Record<string, number>>;
}

export const emptyState: State = { pools: new Map(), namespaces: new Map(), hash: '' };

/** Of what is written. A later release may mean something else by the same words, so that is looked for anew. */
const schema = 1;

/** Reads what was written; a part that cannot be read counts as absent. */
export function readState(data: ConfigMap['data'] = {}): State {
  const config = parse(data['config.json']);
  if (typeof config['schema'] === 'number' && config['schema'] > schema) {
    return emptyState;
  }
  const coverage = parse(data['coverage.json']);
  const rules = config['rules'] === undefined ? undefined : readRules(config['rules']);
  return {
    pools: new Map(Object.entries(parse(data['pools.json'])).filter(isPoolEntry)),
    namespaces: new Map(Object.entries(parse(data['namespaces.json'])).map(namespaceEntry)),
    ...(rules !== undefined && 'rules' in rules ? { rules: rules.rules } : {}),
    ...extentIn(config),
    hash: typeof config['hash'] === 'string' ? config['hash'] : '',
    ...(typeof config['problem'] === 'string' ? { problem: config['problem'] } : {}),
    ...(isCoverage(coverage) ? { coverage } : {}),
  };
}

/** Equal state gives byte-equal text, so that a repeat writes nothing. */
export function formatState({
  pools,
  namespaces,
  coverage,
  hash,
  rules,
  problem,
  extent,
}: State): Record<string, string> {
  return {
    'config.json': format({ schema, hash, rules, problem, extent }),
    'pools.json': format(sorted(pools)),
    'namespaces.json': format(sorted(namespaces)),
    ...(coverage === undefined ? {} : { 'coverage.json': format(coverage) }),
  };
}

function format(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function sorted<T>(entries: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...entries].sort(by(([name]) => name)));
}

function parse(text: string | undefined): Fields {
  try {
    return recordOf(JSON.parse(text ?? '{}')) ?? {};
  } catch {
    return {};
  }
}

function extentIn(config: Fields): Pick<State, 'extent'> {
  const extent = extents.find((each) => each === config['extent']);
  return extent === undefined ? {} : { extent };
}

function isPoolEntry(entry: [string, unknown]): entry is [string, PoolState] {
  const [, value] = entry;
  return isRecord(value) && typeof value['active'] === 'boolean' && typeof value['since'] === 'string';
}

function namespaceEntry([name, value]: [string, unknown]): [string, NamespaceFacts] {
  const { labels, skip, pool } = recordOf(value) ?? {};
  return [
    name,
    {
      labels: (recordOf(labels) ?? {}) as Readonly<Record<string, string>>,
      ...(skip === true ? { skip } : {}),
      ...(typeof pool === 'string' && readPool(pool) !== undefined ? { pool } : {}),
    },
  ];
}

function isCoverage(value: Fields): value is Fields & Coverage {
  return typeof value['uncovered'] === 'number' && isRecord(value['workloads']);
}
