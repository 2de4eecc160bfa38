import { decide } from '../decide.ts';
import type { Knowledge } from '../knowledge.ts';
import { appliedMark } from '../names.ts';
import { applyAdditions } from './lossless.ts';
import { createDice, oddReview } from './odd-reviews.ts';
import { knowing, rulesFrom } from './pods.ts';

export interface Held {
  readonly reviews: number;
  readonly mutated: number;
  /** What went wrong, with the review that shows it. */
  readonly broken: readonly string[];
}

/** Decides so many odd reviews and checks each patch: it applies, and every byte that was there is there still. */
export function holdOut(reviews: number, seed: number): Held {
  const dice = createDice(seed);
  const knowledges = variants();
  const broken: string[] = [];
  let mutated = 0;
  for (let index = 0; index < reviews; index += 1) {
    const { request, pod } = oddReview(dice);
    try {
      mutated += check(request, pod, knowledges[index % knowledges.length] ?? knowing()) ? 1 : 0;
    } catch (error) {
      broken.push(`${error instanceof Error ? error.message : String(error)}: ${request}`);
    }
  }
  return { reviews, mutated, broken: broken.slice(0, 5) };
}

/** With the settings alone, with many rules, and with all that says what was done. */
function variants(): readonly Knowledge[] {
  const spot = { key: 'tier', values: ['spot'] };
  const tolerations = [{ key: 'spot', operator: 'Exists' }];
  return [
    knowing(),
    knowing({ environment: { EXPLAIN: 'both', SKIP_PINNED: 'false' } }),
    knowing({
      environment: { EXPLAIN: 'annotation' },
      rules: rulesFrom([
        { name: 'a', pool: spot, match: { podSelector: { matchLabels: { app: 'web' } } }, tolerations },
        {
          name: 'b',
          pool: { key: 'zone', values: ['a'] },
          mode: 'required',
          match: { excludePodLabels: { app: 'x' } },
        },
        { name: 'c', term: { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }, tolerations },
      ]),
    }),
  ];
}

function check(request: string, pod: string, knowledge: Knowledge): boolean {
  const { patch } = decide(JSON.parse(request) as object, knowledge);
  if (patch.length === 0) {
    return false;
  }
  const { after, untouched, replaced } = applyAdditions(pod, JSON.parse(JSON.stringify(patch)) as typeof patch);
  if (untouched !== pod) {
    throw new Error(`what was there became ${untouched}`);
  }
  if (replaced.some((gone) => gone !== 'null' && gone !== '[]') && !pod.includes(appliedMark)) {
    throw new Error(`replaced ${replaced.join()}`);
  }
  const again = decide({ ...(JSON.parse(request) as object), object: JSON.parse(after) as unknown }, knowledge);
  if (again.patch.length > 0) {
    throw new Error(`a second look changed it again by ${JSON.stringify(again.patch)}`);
  }
  return true;
}
