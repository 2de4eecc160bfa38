import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import { dueScan, isSameTrigger, settingsFingerprint, withSettings, withTrigger } from './pending.ts';
import { emptyState, type Pending, type State } from './state.ts';

const config = parseConfig(Config, { MAX_DEBOUNCE: '60s' });
const change = { reasons: ['ConfigMap'], delayMs: 10_000 };
const relabelled = { namespaces: ['shop'], reasons: ['Namespace shop'], delayMs: 0 };

function after(...triggers: readonly (readonly [at: number, trigger: typeof change | typeof relabelled])[]): Pending {
  const { pending } = triggers.reduce(
    (state: State, [at, trigger]) => withTrigger(state, trigger, at, config),
    emptyState,
  );
  if (pending === undefined) {
    throw new Error('nothing is pending');
  }
  return pending;
}

describe('a trigger', () => {
  it('gives istiod its time, and further ones push that back, but not for ever', () => {
    expect(after([0, change]).dueAt).toBe(10_000);
    expect(after([0, change], [5_000, change]).dueAt).toBe(15_000);
    expect(after([0, change], [55_000, change]).dueAt).toBe(60_000);
  });

  it('gives istiod its time also after scans that failed for long', () => {
    const pending = { ...after([0, change]), attempts: 4, dueAt: 900_000 };

    const next = withTrigger({ ...emptyState, pending }, change, 800_000, config).pending;

    expect(next).toMatchObject({ dueAt: 810_000, attempts: 0 });
  });

  it('by labels is due at once, but takes no time from an istiod that needs it', () => {
    expect(after([0, relabelled]).dueAt).toBe(0);
    expect(after([0, change], [1_000, relabelled])).toMatchObject({ dueAt: 10_000 });
  });

  it('names namespaces while they are few, and means everything once they are many', () => {
    const triggers = Array.from({ length: 501 }, (_, index) => ({ ...relabelled, namespaces: [`team-${index}`] }));
    const all = triggers.map((trigger) => [0, trigger] as const);

    expect(after(...all.slice(1)).namespaces).toHaveLength(500);
    expect(after(...all)).not.toHaveProperty('namespaces');
  });

  it('is told from another that came after the first was served', () => {
    expect(isSameTrigger(after([0, change]), after([7_000, change]))).toBe(false);
    expect(isSameTrigger(after([0, change]), after([0, change]))).toBe(true);
  });
});

describe('a scan of everything', () => {
  const scanned: State = { ...emptyState, pacing: { failed: [], lastFullScanAt: 0 } };

  it('is due after the period, and earlier when candidates are done of which others had no room', () => {
    const short: State = { ...scanned, omitted: { queue: 7 } };

    expect(dueScan(scanned, config.RECONCILE_PERIOD - 1, config)).toBeUndefined();
    expect(dueScan(scanned, config.RECONCILE_PERIOD, config)).toMatchObject({ reasons: ['periodic'] });
    expect(dueScan(short, 1, config)).toMatchObject({ reasons: ['periodic'] });
  });
});

describe('settings', () => {
  const scanned: State = { ...emptyState, pacing: { failed: [], lastFullScanAt: 0 } };

  it('that a scan was made with ask for no other', () => {
    const state = { ...scanned, pacing: { ...scanned.pacing, scannedWith: settingsFingerprint(config) } };

    expect(withSettings(state, 1, config)).toBe(state);
    expect(withSettings(state, 1, { ...config, MAX_IN_FLIGHT: 1 })).toBe(state);
  });

  it('that a scan was not made with ask for one, once', () => {
    const asked = withSettings(scanned, 1, config);

    expect(asked.pending).toMatchObject({ reasons: ['settings'], dueAt: 1 });
    expect(withSettings(asked, 2, config)).toBe(asked);
  });
});
