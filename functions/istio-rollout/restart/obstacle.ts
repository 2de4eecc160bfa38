import { formatInstant } from '../../../lib/time/instant.ts';
import type { Pass } from '../pass.ts';
import type { Code } from '../scan/code.ts';
import type { Verdict } from '../scan/judge.ts';
import { noteOn } from '../scan/news.ts';
import { blockOf } from '../scan/outcome.ts';
import type { Finding } from '../scan/scan.ts';
import { wishesOf } from '../scan/wishes.ts';
import type { Workload } from '../scan/workload.ts';
import { passingMs, type State } from '../state/state.ts';
import type { Aside } from './begin.ts';
import { futureRestart, waitOf } from './gates.ts';

/** Why a candidate is not restarted after all, and what becomes of it. Undefined: nothing is against it. */
export async function reasonAgainst(pass: Pass, finding: Finding | undefined): Promise<Aside | undefined> {
  const { config, now, store, survey, knowledge } = pass;
  if (finding === undefined) {
    return { drop: true };
  }
  const { staffed, verdict } = finding;
  const { workload } = staffed;
  if (verdict.code !== 'Outdated') {
    return asideOf(verdict, now());
  }
  const { mesh } = await knowledge();
  const wishes = wishesOf(workload, mesh.namespaces[workload.namespace], config);
  const surroundings = { ...(await survey(workload, verdict.revision)), isHealing: isHealing(store.state(), finding) };
  warnOfFuture(pass, workload);
  const wait = waitOf(workload, wishes, surroundings, { config, now: now() });
  return wait === undefined ? undefined : { wait };
}

/** Such a time is no reason to wait, but whoever wrote it should know. */
function warnOfFuture({ context, config, now }: Pass, workload: Workload): void {
  const at = futureRestart(workload, config, now());
  if (at !== undefined) {
    const { kind, namespace, name } = workload;
    context.log.warn({ kind, namespace, name, at: formatInstant(at) }, 'time of a restart lies in the future: ignored');
  }
}

/** What a restart of ours has broken, one that brings another proxy may mend. */
function isHealing({ inflight }: State, { staffed: { workload }, verdict }: Finding): boolean {
  const broken = inflight
    .filter(({ uid }) => uid === workload.uid)
    .map((each) => (each.phase === 'Failed' ? each : each.mends));
  return broken.some((each) => each !== undefined && each.fingerprint !== verdict.fingerprint);
}

const passing: ReadonlySet<Code> = new Set(['RolloutInProgress', 'ProbeFailed']);

function asideOf(verdict: Verdict, now: number): Aside {
  const { code } = verdict;
  if (code === 'Paused' || passing.has(code)) {
    return { wait: { code, ...(code !== 'Paused' && { until: now + passingMs }) } };
  }
  const block = blockOf(verdict);
  return block === undefined ? { drop: true } : { block, note: noteOn(code, verdict) };
}
