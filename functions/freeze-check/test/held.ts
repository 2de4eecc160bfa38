import { cronJobs, events } from '../../../lib/kube/model/resource.ts';
import type { World } from './world.ts';

/** What people see of CronJobs that are held. */
export interface Held {
  readonly suspendOf: (name: string) => boolean | undefined;
  /** The annotations of the function on one of them. */
  readonly ownAnnotations: (name: string) => Record<string, string>;
  /** Those of all Events. */
  readonly reasons: () => string[];
}

export function heldIn(world: World): Held {
  return {
    suspendOf: (name) => world.get(cronJobs, name, 'prod').spec.suspend,
    ownAnnotations: (name) => {
      const { annotations = {} } = world.get(cronJobs, name, 'prod').metadata ?? {};
      return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith('freeze-operator.io/')));
    },
    reasons: () => world.sandbox.api.list(events).map((event) => (event as { reason?: string }).reason ?? ''),
  };
}
