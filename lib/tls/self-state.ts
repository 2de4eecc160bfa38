import { createPrivateKey, type X509Certificate } from 'node:crypto';
import type { Secret } from '../kube/model/resource.ts';
import { certificatesIn, examine, isValidAt, Unfit, type Generation, type KeyPair } from './certificate.ts';
import { phaseAnnotation, sinceAnnotation } from './marks.ts';

/** The phases of a rotation. The phase is stored on the Secret, so that any replica can continue. */
export const phases = ['stable', 'prepublish', 'switch', 'retire'] as const;
export type Phase = (typeof phases)[number];

/** The content of the Secret of mode `self`. */
export interface SelfState {
  readonly phase: Phase;
  readonly since: Date;
  readonly pair: KeyPair;
  /** The certificates of `ca.crt`; empty if it cannot be read. */
  readonly bundle: readonly X509Certificate[];
  readonly generation: Generation | undefined;
  /** The authority that can sign; absent if its key is missing or it has expired. */
  readonly signer: Signer | undefined;
  /** The authority that will sign after the switch. */
  readonly next: Signer | undefined;
}

export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: string;
}

export interface Reading {
  readonly now: Date;
  readonly host: string;
  /** The function; prefixes the annotations. */
  readonly name: string;
}

export function stateOf(secret: Secret, { now, host, name }: Reading): SelfState {
  const { annotations = {} } = secret.metadata ?? {};
  const pair = pairOf(secret);
  const since = new Date(annotations[sinceAnnotation(name)] ?? '');
  return {
    phase: phases.find((phase) => phase === annotations[phaseAnnotation(name)]) ?? 'stable',
    since: Number.isNaN(since.getTime()) ? new Date(0) : since,
    pair,
    bundle: unlessUnfit(() => certificatesIn(pair.ca, 'ca.crt')) ?? [],
    generation: unlessUnfit(() => examine(pair, { now, host })),
    signer: signerOf(pair.ca, textOf(secret, 'ca.key'), now),
    next: signerOf(textOf(secret, 'next-ca.crt'), textOf(secret, 'next-ca.key'), now),
  };
}

export function pairOf(secret: Secret): KeyPair {
  return { cert: textOf(secret, 'tls.crt'), key: textOf(secret, 'tls.key'), ca: textOf(secret, 'ca.crt') };
}

function textOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString();
}

/** The certificate of the bundle that matches the key. */
function signerOf(bundle: string, key: string, now: Date): Signer | undefined {
  return unlessUnfit(() => {
    const certificate = certificatesIn(bundle, 'ca.crt').find((one) => isValidAt(one, now) && belongs(one, key));
    return certificate === undefined ? undefined : { certificate, key };
  });
}

function belongs(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function unlessUnfit<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unfit) {
      return undefined;
    }
    throw error;
  }
}
