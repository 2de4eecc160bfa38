import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PolicyKind } from './policy.ts';
import { validate } from './validate.ts';

const now = Date.parse('2026-06-15T12:00:00Z');
const circumstances = { now, longestExceptionMs: 168 * 3_600_000, providers: ['argocd', 'flux'] };
const target = { kinds: ['Deployment'] };
const rules = { deny: ['ROLL_OUT'] };

const specs: Readonly<Record<PolicyKind, object>> = {
  ChangeFreeze: { startTime: '2026-12-24T00:00:00Z', endTime: '2026-12-27T00:00:00+01:00', target, rules },
  MaintenanceWindow: {
    timezone: 'Europe/Berlin',
    mode: 'DenyOutsideWindows',
    windows: [{ name: 'night', schedule: '0 22 * * *', duration: '4h' }],
    target,
    rules,
  },
  FreezeException: {
    activeFrom: '2026-12-24T00:00:00Z',
    activeTo: '2026-12-25T00:00:00Z',
    target,
    allow: ['ROLL_OUT'],
    reason: 'hotfix',
  },
};

function problems(kind: PolicyKind, change: object): readonly string[] {
  return validate(kind, { spec: { ...specs[kind], ...change } }, circumstances).problems;
}

function warnings(kind: PolicyKind, change: object): readonly string[] {
  const review = validate(kind, { spec: { ...specs[kind], ...change } }, circumstances);
  expect(review.problems).toEqual([]);
  return review.warnings;
}

function window(change: object): object {
  return { windows: [{ name: 'night', schedule: '0 22 * * *', duration: '4h', ...change }] };
}

describe('a policy', () => {
  it.each(['ChangeFreeze', 'MaintenanceWindow', 'FreezeException'] as const)(
    'of kind %s that is right passes',
    (kind) => {
      expect(validate(kind, { spec: specs[kind] }, circumstances)).toEqual({ problems: [], warnings: [] });
    },
  );

  it.each<[PolicyKind, object, string]>([
    [
      'ChangeFreeze',
      { timezone: 'Mars/Base' },
      'spec.timezone: invalid timezone "Mars/Base": unknown time zone Mars/Base',
    ],
    [
      'ChangeFreeze',
      { timezone: 'BST', schedule: '0 0 * * *', duration: '1h' },
      'spec.timezone: invalid timezone "BST": unknown time zone BST',
    ],
    ['ChangeFreeze', { timezone: '+01:00' }, 'spec.timezone: invalid timezone "+01:00": unknown time zone +01:00'],
    ['ChangeFreeze', { endTime: '2026-12-24T00:00:00Z' }, 'spec.endTime must be after spec.startTime'],
    ['ChangeFreeze', { endTime: '2026-12-24T00:00:00+01:00' }, 'spec.endTime must be after spec.startTime'],
    [
      'ChangeFreeze',
      { endTime: '2026-02-30T00:00:00Z' },
      'spec.endTime: "2026-02-30T00:00:00Z" is not a time such as 2026-12-24T00:00:00Z',
    ],
    ['ChangeFreeze', { endTime: undefined }, 'spec: must have startTime and endTime, or schedule and duration'],
    ['FreezeException', { activeTo: '2026-12-24T00:00:00Z' }, 'spec.activeTo must be after spec.activeFrom'],
    ['FreezeException', { allow: [] }, 'spec.allow: must specify at least one action'],
    ['MaintenanceWindow', { timezone: 'X' }, 'spec.timezone: invalid timezone "X": unknown time zone X'],
    ['MaintenanceWindow', { windows: [] }, 'spec.windows: must have at least one window'],
    [
      'MaintenanceWindow',
      window({ schedule: '61 * * * *' }),
      'spec.windows[0].schedule: invalid cron expression "61 * * * *": schedule: "61" is not a valid minute from 0 to 59',
    ],
    ['MaintenanceWindow', window({ duration: '0s' }), 'spec.windows[0].duration: must be greater than 0'],
    ['MaintenanceWindow', window({ duration: '-1h' }), 'spec.windows[0].duration: must be greater than 0'],
    [
      'MaintenanceWindow',
      window({ duration: '1d' }),
      'spec.windows[0].duration: invalid duration "1d": "1d" is not a duration such as 90s, 30m or 1h30m (units: ns, us, ms, s, m, h)',
    ],
    [
      'ChangeFreeze',
      { target: { ...target, objectSelector: { matchExpressions: [{ key: 'a', operator: 'Near', values: ['b'] }] } } },
      'spec.target.objectSelector: "Near" is not a valid label selector operator',
    ],
    [
      'ChangeFreeze',
      { target: { ...target, namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'spec.target.namespaceSelector: "a" with values [] is not a valid label condition',
    ],
    [
      'ChangeFreeze',
      { behavior: { gitops: { enabled: true, flux: { kustomizationSelector: { matchLabels: { 'a b': 'c' } } } } } },
      'spec.behavior.gitops.flux.kustomizationSelector: "a b" with values [c] is not a valid label condition',
    ],
    ['ChangeFreeze', { target: undefined }, 'spec.target: is required'],
    [
      'ChangeFreeze',
      { target: { kinds: ['Pod'] } },
      'spec.target.kinds[0]: must be one of Deployment, StatefulSet, DaemonSet, CronJob',
    ],
    ['ChangeFreeze', { rules: { deny: 'ROLL_OUT' } }, 'spec.rules.deny: must be a list'],
  ])('FC-73 of kind %s with %j is refused', (kind, change, problem) => {
    expect(problems(kind, change)).toEqual([problem]);
  });

  it.each([
    'TZ=UTC',
    'CRON_TZ=',
    ', * * * *',
    '0 22 * * 7',
    '@daily',
    '0 0 22 * * *',
    '',
    '* * * * fri-sun',
    '*/0 * * * *',
  ])('FC-74 with the schedule "%s" is refused', (schedule) => {
    expect(problems('MaintenanceWindow', window({ schedule }))).toHaveLength(1);
  });

  it.each<[PolicyKind, object, string]>([
    [
      'MaintenanceWindow',
      window({ schedule: '0 0 30 2 *' }),
      'spec.windows[0]: never opens within the next five years',
    ],
    [
      'MaintenanceWindow',
      window({ schedule: '0 * * * *' }),
      'spec.windows[0]: is always open, as it opens again before it closes',
    ],
    [
      'MaintenanceWindow',
      window({ schedule: '30 2 * * *' }),
      'spec.windows[0]: does not open at 2027-03-28T01:00:00Z, when the clocks go forward; onSkipped: NextValid would',
    ],
    [
      'ChangeFreeze',
      { startTime: '2025-01-01T00:00:00Z', endTime: '2025-01-02T00:00:00Z' },
      'the freeze is over since 2025-01-02T00:00:00Z',
    ],
    [
      'ChangeFreeze',
      { schedule: '0 0 * * *', duration: '24h' },
      'spec.schedule: the freeze never ends, as it begins again before it is over',
    ],
    [
      'ChangeFreeze',
      { schedule: '30 2 * * *', duration: '1h', timezone: 'Europe/Berlin' },
      'spec.schedule: the freeze does not begin at 2027-03-28T01:00:00Z, when the clocks go forward',
    ],
    [
      'ChangeFreeze',
      { behavior: { suspendCronJobs: true } },
      'spec.behavior.suspendCronJobs: has no effect, as spec.target.kinds does not list CronJob',
    ],
    [
      'ChangeFreeze',
      { behavior: { gitops: { enabled: true, providers: ['argocd', 'flux'], argocd: {} } } },
      'spec.behavior.gitops.flux: is missing, so nothing of it is paused',
    ],
    [
      'FreezeException',
      { activeTo: '2027-12-24T00:00:00Z' },
      'the exception lasts 8760 h, longer than exceptions should',
    ],
  ])('of kind %s with %j gets a warning', (kind, change, warning) => {
    expect(warnings(kind, change)).toEqual([warning]);
  });

  it('that asks for a GitOps tool which this installation leaves alone gets a warning', () => {
    const gitops = { enabled: true, providers: ['argocd', 'flux'], argocd: {}, flux: {} };
    const policy = { spec: { ...specs.ChangeFreeze, behavior: { gitops } } };

    expect(validate('ChangeFreeze', policy, { ...circumstances, providers: ['flux'] }).warnings).toEqual([
      'spec.behavior.gitops.providers: argocd is not in GITOPS_PROVIDERS, so nothing of it is paused',
    ]);
  });

  it('with two windows of one name gets a warning', () => {
    const night = { name: 'night', schedule: '0 22 * * *', duration: '4h' };

    expect(warnings('MaintenanceWindow', { windows: [night, night] })).toEqual([
      'spec.windows: there are several of the name "night"',
    ]);
  });

  it('of any shape is told what is wrong with it, and nothing breaks', () => {
    const kinds = fc.constantFrom<PolicyKind>('ChangeFreeze', 'MaintenanceWindow', 'FreezeException');

    fc.assert(
      fc.property(kinds, fc.dictionary(fc.constantFrom('spec', 'metadata'), fc.jsonValue()), (kind, policy) => {
        expect(validate(kind, policy, circumstances).problems).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
