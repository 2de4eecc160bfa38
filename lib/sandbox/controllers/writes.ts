import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { Caller, InternalApi, KindRef } from '../model/internal.ts';
import { ApiError } from '../model/status.ts';

const widestBatch = 100;

/** Writes the status if it differs from the stored one. */
export async function writeStatus<T extends KubeObject & { status?: unknown }>(
  api: InternalApi,
  kind: KindRef,
  { object, status, as }: { readonly object: T; readonly status: NonNullable<T['status']>; readonly as: Caller },
): Promise<void> {
  if (!isDeepStrictEqual(object.status, status)) {
    await api.update(kind, { ...object, status }, { subresource: 'status' }, as);
  }
}

/** Deletes; what is gone already is well. */
export async function removeObject(api: InternalApi, kind: KindRef, object: KubeObject, as: Caller): Promise<void> {
  const { name = '', namespace, uid } = object.metadata ?? {};
  try {
    await api.remove(
      kind,
      { name, ...(namespace !== undefined && { namespace }) },
      { propagationPolicy: 'Background', ...(uid !== undefined && { uid }) },
      as,
    );
  } catch (error) {
    if (!isGone(error)) {
      throw error;
    }
  }
}

/** True for the refusal of a write to an object that is not there, or is another one by now. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 404 || error.code === 409);
}

/**
 * Does the same thing `count` times: one first, then twice as many at a time, so that a refusal costs one try.
 * Batches end with a pause for requests.
 */
export async function slowStart(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let size = 1;
  for (let done = 0; done < count; done += size, size = Math.min(size * 2, widestBatch)) {
    const batch = Array.from({ length: Math.min(size, count - done) }, (_, index) => work(done + index));
    const failure = (await Promise.allSettled(batch)).find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') {
      throw failure.reason;
    }
    await breathe();
  }
}

/** Lets requests have their turn. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
