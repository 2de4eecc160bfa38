import type { X509Certificate } from 'node:crypto';
import { isValidAt, sameCertificate, type Generation } from './certificate.ts';

/** Whom one webhook entry trusts, and since when it trusts the authority that is to come. */
export interface View {
  readonly trusted: readonly X509Certificate[];
  /** Absent: longer than anybody has noted. */
  readonly since?: Date | undefined;
}

export interface Situation {
  /** What is shown now. */
  readonly current: Generation | undefined;
  readonly candidate: Generation;
  /** `undefined` if nobody could be asked. */
  readonly views: readonly View[] | undefined;
  readonly now: Date;
  readonly propagationMs: number;
}

/** Bundle before leaf: whether every API server trusts the new certificate by now, or has nothing better to trust. */
export function mayShow({ current, candidate, views, now, propagationMs }: Situation): boolean {
  if (current !== undefined && !isValidAt(current.leaf, now)) {
    return true;
  }
  if (current !== undefined && sameCertificate(current.authority, candidate.authority)) {
    return true;
  }
  if (views === undefined) {
    // Without a certificate nobody is served at all.
    return current === undefined;
  }
  return views.every(
    ({ trusted, since }) =>
      !isServedByOthers(trusted, current, candidate) ||
      (includes(trusted, candidate.authority) && now.getTime() >= (since?.getTime() ?? 0) + propagationMs),
  );
}

/** Whether waiting helps anybody: somebody may be served by the certificate that is shown now, here or by a neighbour. */
function isServedByOthers(
  trusted: readonly X509Certificate[],
  current: Generation | undefined,
  candidate: Generation,
): boolean {
  return current === undefined
    ? trusted.some((one) => !sameCertificate(one, candidate.authority))
    : includes(trusted, current.authority);
}

function includes(certificates: readonly X509Certificate[], wanted: X509Certificate): boolean {
  return certificates.some((one) => sameCertificate(one, wanted));
}
