import { Refusal } from '../../lib/kube/refusal.ts';

/** What `read` finds, or `otherwise` where our rights don't reach. */
export function orIfForbidden<T, const U>(otherwise: U, read: () => Promise<T>): Promise<T | U> {
  return orIfRefused(403, otherwise, read);
}

/** What `read` finds, or `otherwise` where the API server does not know the kind, be it for a moment. */
export function orIfUnserved<T, const U>(otherwise: U, read: () => Promise<T>): Promise<T | U> {
  return orIfRefused(404, otherwise, read);
}

async function orIfRefused<T, U>(code: number, otherwise: U, read: () => Promise<T>): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.code === code) {
      return otherwise;
    }
    throw error;
  }
}
