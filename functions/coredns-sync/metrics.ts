import type { Context } from '../../lib/function/definition.ts';
import type { Config } from './config.ts';
import type { Wanted } from './sources/wanted.ts';
import type { Conditions, Summary } from './state/state.ts';

type Counting = Pick<Context<Config>, 'metrics'>;

export function countPass({ metrics }: Counting, kind: 'increment' | 'flush' | 'full', result: string): void {
  metrics.counter('passes_total', 'Runs by kind and how they ended.', ['kind', 'result']).add(1, { kind, result });
}

export type Written = 'rules' | 'index' | 'custom' | 'corefile' | 'volume_mount' | 'stub_domains';

/** Only what was sent: a run that finds nothing to change counts in `noop_total`. */
export function countWrite({ metrics }: Counting, object: Written, result: string): void {
  metrics
    .counter('writes_total', 'Writes by what they are about and how they ended.', ['object', 'result'])
    .add(1, { object, result });
}

export function countNoop({ metrics }: Counting): void {
  metrics.counter('noop_total', 'Runs that found nothing to change.').add();
}

export function countConflict({ metrics }: Counting): void {
  metrics.counter('conflicts_total', 'Runs that began again because somebody else wrote meanwhile.').add();
}

export function countRollback({ metrics }: Counting): void {
  metrics.counter('rollbacks_total', 'Rules that CoreDNS refused and that gave way to the last it took.').add();
}

export type Drift = 'rules' | 'label' | 'import_statement' | 'volume_mount' | 'stub_domains';

export function countDrift({ metrics }: Counting, type: Drift): void {
  metrics.counter('drift_total', 'What somebody else undid and we repaired.', ['type']).add(1, { type });
}

export function countRefused({ metrics }: Counting, { refused }: Wanted): void {
  const counter = metrics.counter('rejected_hosts_total', 'Hosts that were refused, by reason.', ['reason']);
  for (const { reason } of refused) {
    counter.add(1, { reason });
  }
}

/** As the last full pass found them, be it that of another process. */
export function showSummary({ metrics }: Counting, { hosts, losing, refused }: Summary, shards: number): void {
  const gauge = metrics.gauge('hosts', 'Hosts by what became of them.', ['state']);
  gauge.set(hosts, { state: 'managed' });
  gauge.set(losing, { state: 'losing' });
  gauge.set(refused, { state: 'rejected' });
  metrics.gauge('shards', 'ConfigMaps that hold rules.').set(shards);
}

export function showBytes({ metrics }: Counting, bytes: number): void {
  metrics.gauge('rules_bytes', 'Size of all rules with their claims.').set(bytes);
}

/** What is no longer the case stays as 0: a series that vanishes looks like a target that is down. */
export function showConditions({ metrics }: Counting, before: Conditions, now: Conditions): void {
  const gauge = metrics.gauge('condition', '1 while the condition holds.', ['type']);
  for (const type of new Set([...Object.keys(before), ...Object.keys(now)])) {
    gauge.set(type in now ? 1 : 0, { type });
  }
}

/** By `Ingress/shop`. Namespaces come and go: one without objects is not shown. */
export function showSources({ metrics }: Counting, counts: ReadonlyMap<string, number>): void {
  const gauge = metrics.gauge('sources', 'Objects with hosts, by kind and namespace.', ['kind', 'namespace']);
  gauge.reset();
  for (const [key, count] of counts) {
    const [kind = '', namespace = ''] = key.split('/');
    gauge.set(count, { kind, namespace });
  }
}
