import { parseImage } from '../drift/image.ts';
import type { Expectation } from '../probe/prober.ts';
import type { Question } from '../probe/question.ts';
import type { State } from '../state/state.ts';

/** One answer of an injector of a revision. */
export interface Sample {
  readonly revision: string;
  readonly question: Question;
  readonly answer: Expectation;
}

/** A template that asks for nothing special gets the image that the ConfigMap names. */
export function isPlain({ annotations, spec }: Question): boolean {
  const isSpecial = Object.keys(annotations).some((name) => /^(sidecar|inject|proxy)\.istio\.io\//.test(name));
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  return !isSpecial && !containers.some(({ name }) => name === 'istio-proxy');
}

/** Revisions whose ConfigMap changed and whose istiod was not yet seen to inject accordingly. */
export function unconfirmedRevisions({ controlPlanes }: State): ReadonlyMap<string, string> {
  const open = Object.values(controlPlanes).filter(
    ({ isConfirmed, tag, image }) => isConfirmed !== true && tag !== undefined && image?.includes('/') !== true,
  );
  return new Map(open.map(({ revision, tag = '' }) => [revision, tag]));
}

/** Revisions that still inject another tag than their ConfigMap says: istiod has not read it yet. */
export function staleRevisions(expected: ReadonlyMap<string, string>, samples: readonly Sample[]): ReadonlySet<string> {
  const stale = new Set<string>();
  for (const [revision, tag] of expected) {
    const own = samples.filter((sample) => sample.revision === revision && isPlain(sample.question));
    const tags = own.flatMap(({ answer }) =>
      'proxy' in answer && answer.proxy ? [parseImage(answer.proxy.image).tag ?? ''] : [],
    );
    if (tags.length > 0 && !tags.some((found) => withoutVariant(found) === withoutVariant(tag))) {
      stale.add(revision);
    }
  }
  return stale;
}

function withoutVariant(tag: string): string {
  return tag.replace(/-(distroless|debug)$/, '');
}
