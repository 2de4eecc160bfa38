import type { Refusal } from '../../kube/refusal.ts';
import type { Kube } from '../../kube/client.ts';
import type { Transport } from '../../kube/transport.ts';
import type { Found } from './finding.ts';

/** The cluster that is looked at. */
export interface Patient {
  readonly kube: Kube;
  readonly transport: Transport;
  readonly namespace: string;
  readonly now: Date;
}

/** What may not be read is not judged; any other failure is itself something wrong, and keeps no other check from being made. */
export async function orFailure(check: string, examine: () => Promise<Found[]>): Promise<Found[]> {
  try {
    return await examine();
  } catch (error) {
    return [{ check, message: error instanceof Error ? error.message : String(error), ...verdict(error) }];
  }
}

function verdict(error: unknown): Pick<Found, 'state' | 'fix'> {
  if (isRefusal(error) && isForbidden(error)) {
    return { state: 'unknown', fix: 'look as somebody who has this right' };
  }
  return isRefusal(error) || isNamed(error, 'Failure')
    ? { state: 'error', fix: 'look again once the API server answers this' }
    : { state: 'error', fix: 'this is a fault of the doctor: report it with what is said here' };
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

function isRefusal(error: unknown): error is Refusal {
  return isNamed(error, 'Refusal');
}

/** By name: in an image the doctor is a file of its own, with classes of its own. */
function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
