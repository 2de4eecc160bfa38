import * as z from 'zod/mini';
import { flag, integer, oneOf, withDefault } from '../../../lib/function/config.ts';
import { renderModes } from '../render/render.ts';

/** Rules can be in no more ConfigMaps than this, whatever `MAX_SHARDS` is or was. */
export const mostShards = 128;

/** How rules are written, and what keeps that within bounds. */
export const writing = {
  RENDER_MODE: withDefault(oneOf(['auto', ...renderModes], { about: 'how rules are written' }), 'auto'),
  EXACT_MAX_HOSTS: withDefault(
    integer({ about: 'hosts up to which auto writes one line each', example: '200', min: 0, max: 100_000 }),
    200,
  ),
  SHARD_BYTES: withDefault(
    integer({ about: 'size from which rules spread over more ConfigMaps', example: '65536', min: 4096, max: 900_000 }),
    65_536,
  ),
  MAX_SHARDS: withDefault(
    integer({
      about: 'ConfigMaps that rules may spread over; a power of two',
      example: '32',
      min: 1,
      max: mostShards,
    }).check(z.refine((value) => Number.isInteger(Math.log2(value)), 'must be a power of two')),
    32,
  ),
  MIN_WRITE_INTERVAL_MS: withDefault(
    integer({ about: 'least time between two writes of a rules ConfigMap', example: '2000', min: 0, max: 600_000 }),
    2000,
  ),
  CONFLICT_RETRIES: withDefault(
    integer({ about: 'how often to start over when others write at the same time', example: '8', min: 1, max: 50 }),
    8,
  ),
  CONFLICT_BUDGET_MS: withDefault(
    integer({ about: 'how long to do so', example: '10000', min: 100, max: 60_000 }),
    10_000,
  ),
  MAX_REMOVAL_PERCENT: withDefault(
    integer({ about: 'share of hosts that one full pass may remove unconfirmed', example: '50', min: 0, max: 100 }),
    50,
  ),
  ALLOW_MASS_REMOVAL: withDefault(flag({ about: 'remove any share at once' }), false),
  MAX_HEALS_PER_HOUR: withDefault(
    integer({ about: 'repairs of the Corefile or Deployment per hour', example: '6', min: 0, max: 1000 }),
    6,
  ),
  ADOPT: withDefault(flag({ about: 'take over a rules ConfigMap that another manager or instance owns' }), false),
  VERIFY_RELOAD: withDefault(
    flag({ about: 'ask the CoreDNS pods how they took the rules, and go back to the last that they took' }),
    false,
  ),
  EMIT_EVENTS: withDefault(flag({ about: 'tell in Kubernetes Events what became of hosts' }), true),
  RENDER_ONLY: withDefault(flag({ about: 'write to a ConfigMap <name>-preview that CoreDNS does not see' }), false),
  TOUCH_PODS: withDefault(
    flag({ about: 'annotate the CoreDNS pods after a write, so that kubelets refresh their volumes at once' }),
    false,
  ),
};

/** What a setting lets it do to others than its own ConfigMaps. */
interface Reaching {
  readonly RENDER_ONLY: boolean;
  readonly COREDNS_AUTO_CONFIGURE: boolean;
  readonly EMIT_EVENTS: boolean;
  readonly TOUCH_PODS: boolean;
  readonly VERIFY_RELOAD: boolean;
}

/** CoreDNS does not see a preview: there is nothing to configure for it, to tell of it or to ask about it. */
export function leavingAllElseAlone<T extends Reaching>(config: T): T {
  const off = { COREDNS_AUTO_CONFIGURE: false, EMIT_EVENTS: false, TOUCH_PODS: false, VERIFY_RELOAD: false };
  return config.RENDER_ONLY ? { ...config, ...off } : config;
}
