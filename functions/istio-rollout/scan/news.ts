import type { Notice } from '../notice.ts';
import { identityOf, isSame, type Blocked, type Candidate, type Identity, type State } from '../state/state.ts';
import type { Verdict } from './judge.ts';
import type { Scan } from './scan.ts';

/** What is new to a state after a scan and worth an Event. */
export function newsOf(before: State, after: State, { findings }: Scan): readonly Notice[] {
  const queued = after.queue.items.filter(
    (item) =>
      item.fingerprint !== undefined &&
      !before.queue.items.some((each) => isSame(each, item) && each.fingerprint === item.fingerprint),
  );
  const stopped = after.blocked.filter(
    (item) =>
      !before.blocked.some(
        (each) =>
          isSame(each, item) &&
          each.reason === item.reason &&
          each.fingerprint === item.fingerprint &&
          each.revision === item.revision,
      ),
  );
  return [
    ...queued.map((item) => ({
      about: identityOf(item),
      reason: 'ProxyOutdated' as const,
      note: noteOf(item, findings),
    })),
    ...stopped.flatMap((item) => blockedNotice(item, noteOf(item, findings))),
  ];
}

function noteOf({ uid, reason }: Candidate | Blocked, findings: Scan['findings']): string {
  return noteOn(reason, findings.find(({ staffed }) => staffed.workload.uid === uid)?.verdict);
}

/** What a verdict has to say, for an Event. */
export function noteOn(reason: string, { pod, expected, detail = '' }: Partial<Verdict> = {}): string {
  return expected === undefined
    ? `${reason}: ${detail}`
    : `${reason}: proxy ${pod?.proxy?.image ?? 'none'}, expected ${expected.image}`;
}

/** That a workload is left alone, where people should know. */
export function blockedNotice(item: Identity & Pick<Blocked, 'reason'>, note: string): readonly Notice[] {
  const about = identityOf(item);
  switch (item.reason) {
    case 'OnDelete':
    case 'Partitioned':
      return [{ about, reason: 'ManualRestartRequired', note }];
    case 'UnknownRevision':
      return [{ about, reason: 'UnknownRevision', note }];
    case 'ConfigInvalid':
      return [{ about, reason: 'ConfigInvalid', note }];
    case 'Ineffective':
      return [{ about, reason: 'RestartIneffective', note }];
    default:
      return [];
  }
}
