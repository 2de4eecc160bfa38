import type { X509Certificate } from 'node:crypto';
import type { SelfState } from './self-state.ts';

/**
 * The next step of the Secret of mode `self`; at most one per pass.
 *
 * | move         | phase before                                  | phase after  |
 * | ------------ | --------------------------------------------- | ------------ |
 * | `recreate`   | any                                           | `stable`     |
 * | `renew-leaf` | any                                           | the same     |
 * | `prepublish` | `stable`, or `prepublish` without a successor | `prepublish` |
 * | `switch`     | `prepublish`                                  | `switch`     |
 * | `retire`     | `switch`                                      | `retire`     |
 * | `settle`     | `retire`                                      | `stable`     |
 */
export type Move = 'recreate' | 'renew-leaf' | 'prepublish' | 'switch' | 'retire' | 'settle';

/** What a move depends on besides the Secret. */
export interface Facts {
  readonly now: Date;
  readonly propagationMs: number;
  readonly retireMs: number;
  /** Since when every webhook trusts this authority; `undefined` if one does not yet. */
  readonly trustedSince: (authority: X509Certificate) => Date | undefined;
  /** Whether every replica uses a certificate of this authority. Asked last, because it connects to all of them. */
  readonly shownEverywhere: (authority: X509Certificate) => Promise<boolean>;
  /** Whether a webhook trusts an authority outside the bundle. */
  readonly othersTrusted: boolean;
}

export async function nextMove(state: SelfState, facts: Facts): Promise<Move | undefined> {
  const { generation, signer } = state;
  if (generation === undefined) {
    return signer === undefined ? 'recreate' : 'renew-leaf';
  }
  if (signer !== undefined && isDue(generation.leaf, facts.now)) {
    return 'renew-leaf';
  }
  switch (state.phase) {
    case 'stable':
      return signer === undefined || isDue(signer.certificate, facts.now) ? 'prepublish' : undefined;
    case 'prepublish':
      return afterPrepublish(state, facts);
    case 'switch':
      return (await mayRetire(state, facts)) ? 'retire' : undefined;
    case 'retire':
      return facts.othersTrusted ? undefined : 'settle';
  }
}

/** Renewal at two thirds of the lifetime leaves time for failures. */
export function isDue({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return now.getTime() >= from + ((to - from) * 2) / 3;
}

function afterPrepublish({ next }: SelfState, { trustedSince, now, propagationMs }: Facts): Move | undefined {
  if (next === undefined) {
    return 'prepublish';
  }
  const since = trustedSince(next.certificate);
  return since !== undefined && now.getTime() >= since.getTime() + propagationMs ? 'switch' : undefined;
}

async function mayRetire({ since, generation }: SelfState, facts: Facts): Promise<boolean> {
  const due = facts.now.getTime() >= since.getTime() + facts.retireMs;
  return due && generation !== undefined && (await facts.shownEverywhere(generation.authority));
}
