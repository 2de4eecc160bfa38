/** What one CoreDNS pod says of its reloads. */
export interface Reload {
  /** `coredns_reload_failed_total` since the pod started. */
  readonly failed: number;
  /** Hash of the configuration that it runs; absent until its first reload. */
  readonly version?: string;
}

/** By uid of the pod. */
export type Reloads = Readonly<Record<string, Reload>>;

/** From the text of a pod's metrics. */
export function parseReload(metrics: string): Reload {
  const failed = /^coredns_reload_failed_total(?:\{[^}]*\})? ([0-9.e+]+)$/m.exec(metrics)?.[1];
  const version = /^coredns_reload_version_info\{[^}]*value="([^"]*)"[^}]*\} 1$/m.exec(metrics)?.[1];
  return { failed: Number(failed ?? 0), ...(version === undefined ? {} : { version }) };
}

/**
 * How CoreDNS took a write, given what its pods said before and after: `refused` when a pod failed to reload since, `taken`
 * when every pod that was there runs another configuration, else `waiting`. A pod that started since has read the new text:
 * had that been bad, it would not run.
 */
export function judgeReload(before: Reloads, after: Reloads): 'taken' | 'refused' | 'waiting' {
  const pods = Object.entries(after).map(([uid, now]) => ({ now, then: before[uid] }));
  if (pods.some(({ now, then }) => then !== undefined && now.failed > then.failed)) {
    return 'refused';
  }
  const isTaken = pods.every(({ now, then }) => then === undefined || now.version !== then.version);
  return pods.length > 0 && isTaken ? 'taken' : 'waiting';
}
