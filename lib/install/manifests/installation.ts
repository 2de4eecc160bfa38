import { version } from '../../base/version.ts';
import type { Site } from '../../function/names.ts';

/** Where the functions are installed, and what they share there. */
export interface Installation extends Site {
  readonly image: string;
  readonly broker: string;
  /** The Knative Service that takes events which nobody could handle. */
  readonly deadLetters: string;
}

/** What `knative/shared` sets up. An overlay moves the image to another registry. */
export const standardInstallation: Installation = {
  namespace: 'kube-reflex',
  image: `kube-reflex:${version}`,
  broker: 'kube-reflex',
  deadLetters: 'dead-letters',
};

/** Each value once, in the order of its first appearance. */
export function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
