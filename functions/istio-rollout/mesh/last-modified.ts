import type { KubeObject } from '../../../lib/kube/model/wire.ts';

/** When an object was last written, as far as its metadata tells, in milliseconds. */
export function lastModified({ metadata = {} }: KubeObject): number {
  const times = [metadata.creationTimestamp, ...(metadata.managedFields ?? []).map(({ time }) => time)];
  return Math.max(
    0,
    ...times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)])).filter(Number.isFinite),
  );
}
