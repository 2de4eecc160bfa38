import type { Context } from '../../../lib/function/definition.ts';
import { asFailure, type Failure } from '../../../lib/base/failure.ts';
import type { Step } from '../../../lib/kube/model/plan.ts';
import type { Kube } from '../../../lib/kube/client.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import { beyondRoom, keptApart, noting, readLedger, striking, type Ledger } from './ledger.ts';
import type { Decision } from './plan.ts';
import type { Found } from './sources.ts';

/** A decision and what came of it. */
export interface Done extends Decision {
  /** Absent when the step was done, or there was none. */
  readonly failure?: Failure;
}

/** What came of a pass. */
export interface Acted {
  readonly done: readonly Done[];
  /** Why what was given back is still written down. */
  readonly failure?: Failure;
}

/**
 * Does every step, whatever becomes of the others. What others may strip of its marks is written down before it is held,
 * or it is not held; and struck off after it was given back.
 */
export async function act(
  { kube, namespace }: Pick<Context, 'kube' | 'namespace'>,
  decisions: readonly Decision[],
  { ledger, gone }: Pick<Found, 'ledger' | 'gone'>,
): Promise<Acted> {
  const beyond = beyondRoom(ledger, decisions);
  const fitting = decisions.filter((decision) => !beyond.has(decision));
  const noted = await write(kube, ledger, noting(ledger, fitting, namespace));
  const unnoted = noted.failure === undefined ? beyond : allFailing(decisions, noted.failure);
  const done = [
    ...[...unnoted].map(([decision, failure]) => ({ ...decision, failure })),
    ...(await perform(
      kube,
      decisions.filter((decision) => !unnoted.has(decision)),
    )),
  ];
  const ended = keptApart(done).filter(isGivenBack);
  const uids = [...gone, ...ended.map(({ object }) => object.metadata?.uid ?? '')];
  const struck = await write(kube, noted.ledger, striking(noted.ledger, uids, namespace));
  return { done, ...failureIn(struck) };
}

/** Nothing of it could be written down. */
function allFailing(decisions: readonly Decision[], failure: Failure): ReadonlyMap<Decision, Failure> {
  const toNote = keptApart(decisions).filter(({ marks }) => marks !== undefined);
  return new Map(toNote.map((decision) => [decision, failure]));
}

function isGivenBack({ after, isWithheld = false, failure }: Done): boolean {
  return after === undefined && !isWithheld && failure === undefined;
}

function failureIn({ failure }: Pick<Acted, 'failure'>): Pick<Acted, 'failure'> {
  return failure === undefined ? {} : { failure };
}

interface Written {
  readonly ledger: Ledger;
  readonly failure?: Failure;
}

async function write(kube: Kube, ledger: Ledger, step: Step | undefined): Promise<Written> {
  try {
    const [outcome] = await kube.run({ steps: step === undefined ? [] : [step] });
    const object = outcome?.object as ConfigMap | undefined;
    return { ledger: object === undefined ? ledger : readLedger(object) };
  } catch (error) {
    return { ledger, failure: asFailure(error) };
  }
}

/** Enough to be done with a thousand objects in seconds, few enough not to crowd out others at the API server. */
const width = 8;

async function perform(kube: Kube, decisions: readonly Decision[]): Promise<readonly Done[]> {
  const failures = new Map<Decision, Failure>();
  await inParallel(width, decisions, async (decision) => {
    if (decision.step !== undefined) {
      await kube.run({ steps: [decision.step] }).catch((error: unknown) => failures.set(decision, asFailure(error)));
    }
  });
  return decisions.map((decision) => {
    const failure = failures.get(decision);
    return failure === undefined ? decision : { ...decision, failure };
  });
}
