import type { KubeObject } from '../../kube/model/wire.ts';
import { objectsAt } from './cell.ts';

/** Whether a condition of the status holds; `undefined` when nobody has said. */
export function isTrueCondition(object: KubeObject, type: string): boolean | undefined {
  const found = objectsAt(object, 'status', 'conditions').find((condition) => condition['type'] === type);
  return found === undefined ? undefined : found['status'] === 'True';
}
