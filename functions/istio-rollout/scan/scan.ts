import type { Kube } from '../../../lib/kube/client.ts';
import { inParallel } from '../../../lib/base/in-parallel.ts';
import type { Config } from '../config.ts';
import { fingerprintOf } from '../drift/compare.ts';
import { readMesh } from '../mesh/mesh.ts';
import { remember } from '../mesh/remember.ts';
import type { Prober } from '../probe/prober.ts';
import type { Question } from '../probe/question.ts';
import { configFingerprint, settingsFingerprint } from '../state/pending.ts';
import type { Identity, Standing, State } from '../state/state.ts';
import { expectedTags, isLate, isPlain, namedTags, readingOf, type Reading, type Sample } from './confirm.ts';
import { join, type Staffed, type Stray } from './join.ts';
import { judgeAlone, judgeAnswered, judgedPods, type Knowledge, type Open, type Verdict } from './judge.ts';
import { observe, observeOne, type Observed } from './observe.ts';
import { skipsNamespace } from './namespace.ts';
import { verifiedFrom } from './verified.ts';

export interface Scanner {
  readonly kube: Kube;
  readonly config: Config;
  readonly prober: Prober;
  readonly now: Date;
  /** Take what injectors say even if it does not fit their ConfigMap: it has not for long enough. */
  readonly isTrusting?: boolean;
}

/** A workload and what was found out about it. */
export interface Finding {
  readonly staffed: Staffed;
  readonly verdict: Verdict;
  /** The webhooks that were asked, by the name of their configuration. */
  readonly injectors?: readonly string[];
}

export interface Scan extends Reading {
  readonly knowledge: Knowledge;
  /** What was scanned. Absent: all namespaces. */
  readonly namespaces?: readonly string[];
  readonly findings: readonly Finding[];
  readonly strays: readonly Stray[];
  readonly unreadable: Observed['unreadable'];
  /** Some istiod answers as if it had not read its ConfigMap yet, and was not believed. */
  readonly isLate: boolean;
}

/** Looks at all workloads of the namespaces and asks the injectors about those that only they can judge. */
export async function scan(scanner: Scanner, state: State, namespaces?: readonly string[]): Promise<Scan> {
  const knowledge = await learn(scanner, state);
  const observed = await observeAll(scanner, namespaces);
  const { staffed, strays } = join(observed);
  const judged = staffed.map((each) => ({ staffed: each, ...split(judgeAlone(each, knowledge)) }));
  const open = judged.filter((each): each is typeof each & { open: Open } => each.open !== undefined);
  const samples = await askAll(scanner, knowledge, open);
  const byUid = new Map(samples.map((sample) => [sample.uid, sample]));
  const isTrusting = scanner.isTrusting === true;
  const expected = expectedTags(knowledge.state);
  const reading = readingOf(expected, samples, { isTrusting });
  const doubted = new Set(
    samples.filter((each) => reading.stale.has(each.revision) || (!isTrusting && isLate(each, expected))),
  );
  const findings = judged.map(({ staffed: each, verdict, open: question }): Finding => {
    const sample = byUid.get(each.workload.uid);
    if (question === undefined || sample === undefined) {
      return { staffed: each, verdict: verdict ?? { code: 'NoPods' } };
    }
    const answered = judgeAnswered(each, question, sample.answer, knowledge);
    const injectors = question.injectors.map(({ configuration }) => configuration);
    const answer = doubted.has(sample) ? doubtful(answered) : believed(answered, sample, knowledge);
    return { staffed: each, verdict: answer, injectors };
  });
  return {
    ...reading,
    isLate: doubted.size > 0,
    knowledge,
    ...(namespaces && { namespaces }),
    findings,
    strays: strays.filter(
      ({ pod }) => !skipsNamespace(pod.namespace, knowledge.mesh.namespaces[pod.namespace], scanner.config),
    ),
    unreadable: observed.unreadable,
  };
}

/** The mesh as it is now, with the times of its changes. */
export async function learn({ kube, config, now }: Scanner, state: State): Promise<Knowledge> {
  const mesh = await readMesh(kube, config);
  const known = remember(state, mesh, now.getTime());
  const fingerprint = configFingerprint(known, config);
  const settings = settingsFingerprint(config);
  return {
    config,
    mesh,
    state: known,
    configFingerprint: fingerprint,
    settings,
    verified: verifiedFrom(state.verified),
  };
}

/** One workload as it is now. Undefined when it is gone. */
export async function evaluate(
  scanner: Scanner,
  knowledge: Knowledge,
  candidate: Identity & Partial<Standing>,
): Promise<Finding | undefined> {
  const staffed = await look(scanner, candidate);
  const isRestarted = candidate.attempts !== undefined || candidate.youngest !== undefined;
  return staffed === undefined ? undefined : judge(scanner, knowledge, staffed, isRestarted || undefined);
}

/** The same after a restart. Pods that have exactly what was expected need no injector to say so. */
export async function evaluateRestarted(
  scanner: Scanner,
  knowledge: Knowledge,
  { fingerprint, ...identity }: Identity & { readonly fingerprint: string },
): Promise<Finding | undefined> {
  const staffed = await look(scanner, identity);
  if (staffed === undefined) {
    return undefined;
  }
  const { DRIFT_CHECKS } = scanner.config;
  const held = staffed.workload.partition > 0 ? staffed.older : [];
  const isAsExpected = [...judgedPods(staffed), ...held].every(
    ({ proxy }) => proxy !== undefined && fingerprintOf(proxy, DRIFT_CHECKS) === fingerprint,
  );
  if (!isAsExpected) {
    return judge(scanner, knowledge, staffed, true);
  }
  const { key } = judgeAlone(staffed, knowledge, true);
  return { staffed, verdict: { code: 'Current', ...(key !== undefined && { key }) } };
}

async function look({ kube, config }: Scanner, identity: Identity): Promise<Staffed | undefined> {
  const observed = await observeOne(kube, config, identity);
  return observed === undefined ? undefined : join(observed).staffed[0];
}

async function judge(
  { prober }: Scanner,
  knowledge: Knowledge,
  staffed: Staffed,
  isRestarted: true | undefined,
): Promise<Finding> {
  const first = judgeAlone(staffed, knowledge, isRestarted);
  if ('code' in first) {
    return { staffed, verdict: first };
  }
  const sample = await ask(prober, first);
  const verdict = judgeAnswered(staffed, first, sample.answer, knowledge);
  const isDoubted = isLate(sample, expectedTags(knowledge.state));
  return { staffed, verdict: isDoubted ? doubtful(verdict) : believed(verdict, sample, knowledge) };
}

async function observeAll({ kube, config }: Scanner, namespaces: readonly string[] | undefined): Promise<Observed> {
  if (namespaces === undefined) {
    return observe(kube, config);
  }
  const all = await inParallel(4, namespaces, (namespace) => observe(kube, config, namespace));
  return {
    workloads: all.flatMap(({ workloads }) => workloads),
    links: new Map(all.flatMap(({ links }) => [...links])),
    pods: all.flatMap(({ pods }) => pods),
    unreadable: [...new Set(all.flatMap(({ unreadable }) => unreadable))],
  };
}

function split(judged: Verdict | Open): { readonly verdict?: Verdict; readonly open?: Open } {
  return 'code' in judged ? { verdict: judged } : { open: judged };
}

type Asked = Sample & { readonly uid: string };

/** Where no template is plain enough to tell whether istiod reads its new ConfigMap, a pod of our own making does. */
async function askAll(
  { prober, config }: Scanner,
  { state }: Knowledge,
  open: readonly { readonly staffed: Staffed; readonly open: Open }[],
): Promise<readonly Asked[]> {
  const plain = new Set(open.filter((each) => isPlain(each.open.question)).map((each) => revisionOf(each.open)));
  const unsure = [...expectedTags(state)].flatMap(([revision, { isConfirmed }]) =>
    isConfirmed || plain.has(revision) ? [] : [revision],
  );
  const sentinels = unsure.flatMap((revision) => {
    const sample = open.find((each) => revisionOf(each.open) === revision);
    return sample === undefined
      ? []
      : [{ uid: '', open: { ...sample.open, question: sentinelIn(sample.open.question) } }];
  });
  const asks = [...sentinels, ...open.map((each) => ({ uid: each.staffed.workload.uid, open: each.open }))];
  return inParallel(config.PROBE_CONCURRENCY, asks, async ({ uid, open: each }) => ({
    uid,
    ...(await ask(prober, each)),
  }));
}

async function ask(prober: Prober, open: Open): Promise<Sample> {
  const { injectors, question } = open;
  return { revision: revisionOf(open), question, answer: await prober.ask(injectors, question) };
}

function revisionOf({ injectors }: Open): string {
  return injectors[0]?.revision ?? '';
}

function sentinelIn({ namespace, owner }: Question): Question {
  return {
    namespace,
    owner,
    labels: {},
    annotations: {},
    spec: { containers: [{ name: 'sentinel', image: 'sentinel' }] },
  };
}

/** Acting on what an injector says that has not read its configuration would mean to act twice. */
function doubtful(verdict: Verdict): Verdict {
  const { code, revision } = verdict;
  return code === 'ProbeFailed'
    ? verdict
    : {
        code: 'ProbeFailed',
        detail: 'istiod has not read its new ConfigMap yet',
        ...(revision !== undefined && { revision }),
      };
}

/** What does not fit its ConfigMap may be believed for now, but istiod may come round: it is asked again. */
function believed(verdict: Verdict, sample: Sample, { state }: Knowledge): Verdict {
  const { key: _key, ...unremembered } = verdict;
  return isLate(sample, namedTags(state)) ? unremembered : verdict;
}
