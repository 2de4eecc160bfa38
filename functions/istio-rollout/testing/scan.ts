import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import type { Finding, Scan } from '../scan/scan.ts';
import { emptyState } from '../state/state.ts';

export const config = parseConfig(Config, {});
const mesh = { controlPlanes: {}, meshConfigs: {}, meshHash: '', webhooks: {}, namespaces: {} };

/** A scan of everything in a mesh of nothing. */
export function scanOf(findings: readonly Finding[]): Scan {
  return {
    knowledge: { config, mesh, state: emptyState, configFingerprint: '', settings: '', verified: new Map() },
    findings,
    strays: [],
    unreadable: [],
    isLate: false,
    stale: new Set(),
    confirmed: new Map(),
  };
}
