import { parseImage } from '../drift/image.ts';
import type { Expectation } from '../probe/prober.ts';
import type { Question } from '../probe/question.ts';
import type { KnownControlPlane, State } from '../state/state.ts';

/** One answer of an injector of a revision. */
export interface Sample {
  readonly revision: string;
  readonly question: Question;
  readonly answer: Expectation;
}

/** Templates of Istio itself, which take tags from the values; others may do as they like. */
const stockTemplates = ['sidecar', 'gateway', 'grpc-simple', 'grpc-agent'];

/** A template that names no image of its own gets the tag that the ConfigMap names. */
export function isPlain({ annotations, spec }: Question): boolean {
  const templates = annotations['inject.istio.io/templates']?.split(',') ?? [];
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return (
    annotations['sidecar.istio.io/proxyImage'] === undefined &&
    templates.every((name) => stockTemplates.includes(name.trim())) &&
    !containers.some(({ name, image }) => name === 'istio-proxy' && image !== 'auto')
  );
}

/** Revisions with the tag that their istiod should inject by now, and whether it was seen to. */
export type Tags = ReadonlyMap<string, { readonly tag: string; readonly isConfirmed: boolean }>;

/** As the ConfigMaps say. */
export function namedTags({ controlPlanes }: State): Tags {
  return tagsOf(Object.values(controlPlanes));
}

/** The same without those of which something else is believed by now. */
export function expectedTags({ controlPlanes }: State): Tags {
  return tagsOf(Object.values(controlPlanes).filter(({ confirmed }) => confirmed !== 'trusted'));
}

function tagsOf(planes: readonly KnownControlPlane[]): Tags {
  const told = planes
    .filter(({ tag, image }) => tag !== undefined && !image?.includes('/'))
    .sort((a, b) => a.changedAt - b.changedAt); // of two ConfigMaps for a revision the later one counts
  return new Map(
    told.map(({ revision, tag = '', confirmed }) => [revision, { tag, isConfirmed: confirmed === 'seen' }]),
  );
}

/** Whether an answer shows another tag than the ConfigMap: the istiod that gave it has not read that yet. */
export function isLate({ revision, question, answer }: Sample, expected: Tags): boolean {
  const tag = expected.get(revision)?.tag;
  const found = tagOf(answer);
  return tag !== undefined && found !== undefined && isPlain(question) && found !== withoutVariant(tag);
}

/** What the answers of one scan say about the istiods that gave them. */
export interface Reading {
  /** Revisions of which no answer fits the ConfigMap. */
  readonly stale: ReadonlySet<string>;
  readonly confirmed: ReadonlyMap<string, NonNullable<KnownControlPlane['confirmed']>>;
}

export function readingOf(
  expected: Tags,
  samples: readonly Sample[],
  { isTrusting }: { readonly isTrusting: boolean },
): Reading {
  const telling = samples.filter(({ question, answer }) => isPlain(question) && tagOf(answer) !== undefined);
  const late = new Set(telling.filter((sample) => isLate(sample, expected)).map(({ revision }) => revision));
  const inTime = new Set(telling.filter((sample) => !isLate(sample, expected)).map(({ revision }) => revision));
  const seen = [...inTime].filter((revision) => expected.has(revision)).map((revision) => [revision, 'seen'] as const);
  return {
    stale: isTrusting ? new Set() : new Set([...late].filter((revision) => !inTime.has(revision))),
    confirmed: new Map([...seen, ...(isTrusting ? [...late].map((revision) => [revision, 'trusted'] as const) : [])]),
  };
}

function tagOf(answer: Expectation): string | undefined {
  return 'proxy' in answer && answer.proxy ? withoutVariant(parseImage(answer.proxy.image).tag ?? '') : undefined;
}

function withoutVariant(tag: string): string {
  return tag.replace(/-(distroless|debug|fips)$/, '');
}
