import type { Refusal } from '../kube/refusal.ts';
import type { Kube } from '../kube/client.ts';
import type { Transport } from '../kube/transport.ts';
import type { Found } from './finding.ts';

/** The cluster that is looked at. */
export interface Patient {
  readonly kube: Kube;
  readonly transport: Transport;
  readonly namespace: string;
  readonly now: Date;
}

/** What may not be read is not judged; anything else that the API server refuses is itself something wrong. */
export async function orRefusal(check: string, examine: () => Promise<Found[]>): Promise<Found[]> {
  try {
    return await examine();
  } catch (error) {
    if (isRefusal(error)) {
      return [{ check, message: error.message, ...verdict(error) }];
    }
    throw error;
  }
}

function verdict(refusal: Refusal): Pick<Found, 'state' | 'fix'> {
  return isForbidden(refusal)
    ? { state: 'unknown', fix: 'look as somebody who has this right' }
    : { state: 'error', fix: 'look again once the API server answers this' };
}

/** `undefined` where it may not be read. */
export async function readable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isRefusal(error) && isForbidden(error)) {
      return undefined;
    }
    throw error;
  }
}

function isForbidden({ code }: Refusal): boolean {
  return code === 401 || code === 403;
}

/** By name: in an image the doctor is a file of its own, with classes of its own. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'Refusal';
}
