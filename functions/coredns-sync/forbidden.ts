import { Refusal } from '../../lib/kube/refusal.ts';

/** What `read` finds, or `otherwise` where our rights don't reach. */
export async function orIfForbidden<T, U>(otherwise: U, read: () => Promise<T>): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.code === 403) {
      return otherwise;
    }
    throw error;
  }
}
