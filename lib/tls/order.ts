import type { X509Certificate } from 'node:crypto';
import { isValidAt, sameCertificate, type Generation } from './certificate.ts';

/** What one webhook entry trusts, and since when it trusts the new authority. */
export interface View {
  readonly trusted: readonly X509Certificate[];
  /** Absent: not recorded, so long ago. */
  readonly since?: Date | undefined;
}

export interface Situation {
  /** The certificate in use. */
  readonly current: Generation | undefined;
  readonly candidate: Generation;
  /** `undefined` if the API server could not be asked. */
  readonly views: readonly View[] | undefined;
  readonly now: Date;
  readonly propagationMs: number;
}

/** Bundle before leaf: whether every API server trusts the new certificate by now, or there is no reason to wait. */
export function mayShow({ current, candidate, views, now, propagationMs }: Situation): boolean {
  if (current !== undefined && !isValidAt(current.leaf, now)) {
    return true;
  }
  if (current !== undefined && sameCertificate(current.authority, candidate.authority)) {
    return true;
  }
  if (views === undefined) {
    // Without a certificate no review is answered anyway.
    return current === undefined;
  }
  return views.every(
    ({ trusted, since }) =>
      !isServedByOthers(trusted, current, candidate) ||
      (includes(trusted, candidate.authority) && now.getTime() >= (since?.getTime() ?? 0) + propagationMs),
  );
}

/** Whether it makes sense to wait: the current certificate, here or on another replica, may still be trusted. */
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
