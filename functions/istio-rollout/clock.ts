import type { Context } from '../../lib/function/definition.ts';
import { memoryKey } from '../../lib/function/memory.ts';
import type { Config } from './config.ts';

/**
 * The time by the clock of the API server, in milliseconds. What one instance writes down another one reads, and the
 * machines that they run on need not agree. Known from the first answer of the context on.
 */
export function sharedNow({ now, kube }: Pick<Context<Config>, 'now' | 'kube'>): number {
  return now().getTime() + kube.skewMs();
}

const reported = memoryKey(() => ({ isWrong: false }));

/** Whoever runs the machine should know; what stays wrong is told once. */
export function tellSkew(context: Context<Config>): void {
  const { kube, log, metrics } = context;
  const skewSeconds = kube.skewMs() / 1000;
  metrics.gauge('clock_skew_seconds', "How far the API server's clock is ahead of this machine's.").set(skewSeconds);
  const memory = context.memory(reported);
  if (skewSeconds !== 0 && !memory.isWrong) {
    log.warn({ skewSeconds }, 'the clock of this machine is not that of the API server');
  }
  memory.isWrong = skewSeconds !== 0;
}
