import { version } from '../../base/version.ts';
import type { Site } from '../../function/names.ts';

/** Where the functions are installed, and what they share there. */
export interface Installation extends Site {
  readonly image: string;
  readonly broker: string;
  /** The Knative Service for events that no function could handle. */
  readonly deadLetters: string;
}

/** The names in `knative/shared`. An overlay moves the image to another registry. */
export const standardInstallation: Installation = {
  namespace: 'kube-reflex',
  image: `kube-reflex:${version}`,
  broker: 'kube-reflex',
  deadLetters: 'dead-letters',
};

/** The values without duplicates, in the order of first appearance. */
export function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
