/** What became of a workload or pod in a scan: stable words for logs, status and metrics. */
export type Code =
  | 'NamespaceSkipped'
  | 'NamespaceGone'
  | 'Unmanaged'
  | 'Job'
  | 'UnsupportedOwner'
  | 'OwnerGone'
  | 'NoPods'
  | 'RolloutInProgress'
  | 'NoInjector'
  | 'OrphanSidecar'
  | 'UnknownRevision'
  | 'Fresh'
  | 'ProbeFailed'
  | 'ConfigInvalid'
  | 'NotExpected'
  | 'Current'
  | 'OptedOut'
  | 'Paused'
  | 'OnDelete'
  | 'Partitioned'
  | 'Ineffective'
  | 'Outdated';

/** Nothing is wrong with these, so a report need not list them. */
export const quietCodes: ReadonlySet<Code> = new Set([
  'NamespaceSkipped',
  'NamespaceGone',
  'OwnerGone',
  'NoPods',
  'NoInjector',
  'Fresh',
  'NotExpected',
  'Current',
]);

/** These stay as they are until something changes: no restart would help, or none is allowed. */
export const lastingCodes: ReadonlySet<Code> = new Set([
  'OnDelete',
  'Partitioned',
  'UnknownRevision',
  'OrphanSidecar',
  'ConfigInvalid',
  'Ineffective',
]);
