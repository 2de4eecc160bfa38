import { digest } from '../../../lib/base/digest.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { annotated, annotationOf, ownerLabels } from './annotation.ts';
import type { Config } from '../config.ts';
import { stableHash } from '../hash.ts';
import { writeConfigMap, type WriteStep } from '../../../lib/kube/model/config-map.ts';
import { bytesOfRecords, formatRecords, parseRecords, type SourceRecord, type SourceRecords } from './record.ts';

/**
 * A part of the index of objects, in the function's own namespace: which hosts each claims, since an update event does not
 * say what an object claimed before. Written after the shards: a record never speaks of claims that were not made.
 */
export interface Bucket {
  readonly index: number;
  readonly object: ConfigMap | undefined;
  /** Undefined where there is nothing to be trusted. */
  readonly records: SourceRecords | undefined;
  readonly of: number;
}

const recordsKey = 'records';
/** Small enough to travel twice with every event. */
const bucketBytes = 32_768;
const maxBuckets = 256;

export function bucketOf(source: string, buckets: number): number {
  return stableHash(source) % buckets;
}

/** Those of a preview speak of other rules than those of CoreDNS. */
export function bucketName(index: number, { RENDER_ONLY }: Pick<Config, 'RENDER_ONLY'>): string {
  return `coredns-sync-records-${index}${RENDER_ONLY ? '-preview' : ''}`;
}

export function readBucket(index: number, object: ConfigMap | undefined): Bucket {
  const text = object?.data?.[recordsKey];
  const intact = text !== undefined && annotationOf(object, 'content-sha256') === digestOf(text);
  return {
    index,
    object,
    of: Number(annotationOf(object, 'of') ?? 0),
    records: intact ? parseRecords(text) : undefined,
  };
}

export interface BucketContent {
  readonly records: Iterable<SourceRecord>;
  readonly buckets: number;
  readonly namespace: string;
  readonly config: Pick<Config, 'INSTANCE' | 'RENDER_ONLY'>;
}

export function writeBucket(
  bucket: Bucket,
  { records, buckets, namespace, config }: BucketContent,
): WriteStep | undefined {
  const text = formatRecords(records);
  return writeConfigMap(
    bucket.object,
    {
      namespace,
      name: bucketName(bucket.index, config),
      data: { [recordsKey]: text },
      labels: ownerLabels(config.INSTANCE),
      annotations: annotated({ 'content-sha256': digestOf(text), of: String(buckets) }),
    },
    'index of objects',
  );
}

/** How many buckets so many records need. Grows at once, shrinks only when a quarter would do. */
export function bucketsFor(records: Iterable<SourceRecord>, current: number): number {
  return resized(Math.ceil((bytesOfRecords(records) * 1.5) / bucketBytes), current, maxBuckets);
}

/** The power of two that holds so many parts, close to what there is. */
export function resized(needed: number, current: number, most: number): number {
  const wanted = Math.min(2 ** Math.ceil(Math.log2(Math.max(needed, 1))), most);
  return wanted > current || wanted * 4 <= current ? wanted : Math.min(current, most);
}

function digestOf(text: string): string {
  return digest(text, 16);
}
