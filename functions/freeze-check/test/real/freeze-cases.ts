import type { Person } from './freeze-site.ts';
import {
  christmas,
  creation,
  deletion,
  everything,
  exceptionOf,
  freezeOf,
  freezeUntil,
  jsonScale,
  rollout,
  scale,
  targetOf,
  update,
  windowsOf,
  workloads,
  type Request,
} from './freeze-requests.ts';
import type { AnyManifest } from '../../../../test/support/manifests.ts';

export const passes = 'passes';

/** Policies, and what becomes of requests under them: each one passes, or is refused with a code and a text. */
export interface Case {
  readonly name: string;
  /** What the clock shows. Absent: noon of Christmas. */
  readonly at?: string;
  readonly policies: readonly AnyManifest[];
  /** What the Deployment is labelled with beforehand. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests: readonly (readonly [Request, string])[];
}

export const autoscaler: Person = {
  user: 'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
};
export const knativeAutoscaler: Person = {
  user: 'system:serviceaccount:knative-serving:controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:knative-serving'],
};
const argo: Person = {
  user: 'system:serviceaccount:argocd:argocd-application-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:argocd'],
};

function refusedBy(policy: string): string {
  return `403 Denied by ${policy}`;
}

/** By the freeze over Christmas. */
const refused = refusedBy('ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z');

const basics: readonly Case[] = [
  {
    name: 'FC-1 everything passes where there are no policies',
    policies: [],
    requests: [
      ...workloads.map((plural) => [creation(plural), passes] as const),
      [rollout({ spec: { replicas: 5 } }), passes],
      [scale('statefulsets'), passes],
      ...workloads.map((plural) => [deletion(plural), passes] as const),
    ],
  },
  {
    name: 'FC-2 a create is refused with who, why, until when, in whose time and whom to ask',
    policies: [
      freezeOf(['CREATE'], {
        timezone: 'Europe/Berlin',
        message: { reason: 'Holiday change freeze', contact: '#oncall', docsURL: 'https://wiki.example.com/f' },
      }),
    ],
    requests: [
      [
        creation(),
        refusedBy(
          'ChangeFreeze/holiday: Holiday change freeze: Next allowed at 2026-12-27T00:00:00Z: ' +
            'Local time 2026-12-27T01:00:00+01:00 Europe/Berlin: Contact: #oncall: Docs: https://wiki.example.com/f',
        ),
      ],
      [rollout(), passes],
    ],
  },
  {
    name: 'FC-3 other replicas pass where only rollouts are denied',
    policies: [freezeOf(['ROLL_OUT'])],
    requests: [
      [update({ spec: { replicas: 5 } }), passes],
      [rollout(), refused],
    ],
  },
  {
    name: 'FC-4 other replicas are refused where scaling is',
    policies: [freezeOf(['SCALE'])],
    requests: [
      [update({ spec: { replicas: 5 } }), refused],
      [rollout(), passes],
    ],
  },
  {
    name: 'FC-5 an image and replicas together are refused where either is denied',
    policies: [freezeOf(['SCALE'])],
    requests: [[rollout({ spec: { replicas: 5 } }), refused]],
  },
  {
    name: 'FC-6 an annotation alone counts as a rollout',
    policies: [freezeOf(['ROLL_OUT'])],
    requests: [[update({ metadata: { annotations: { note: 'x' } } }), refused]],
  },
  ...[
    { at: '2026-12-23T23:59:59.999Z', becomes: passes },
    { at: christmas[0], becomes: refused },
    { at: '2026-12-26T23:59:59.999Z', becomes: refused },
    { at: christmas[1], becomes: passes },
  ].map(({ at, becomes }): Case => {
    const name = `FC-8 FC-9 at ${at} a change under a freeze from ${christmas.join(' to ')}: ${becomes.slice(0, 10)}`;
    return { name, at, policies: [freezeOf(everything)], requests: [[rollout(), becomes]] };
  }),
  {
    name: 'FC-10 a namespace that the freeze is not about is free',
    policies: [freezeOf(everything)],
    requests: [
      [creation('deployments', 'staging'), passes],
      [creation('deployments', 'plain'), passes],
      [creation(), refused],
    ],
  },
];

const controllers: readonly Case[] = [
  {
    name: 'FC-17 /scale is refused where scaling is denied',
    policies: [freezeOf(['SCALE'], { target: { kinds: ['Deployment', 'StatefulSet'] } })],
    requests: [
      [scale(), refused],
      [scale('statefulsets'), refused],
    ],
  },
  {
    name: 'FC-17 /scale passes where only rollouts are denied',
    policies: [freezeOf(['ROLL_OUT'], { target: { kinds: ['Deployment', 'StatefulSet'] } })],
    requests: [
      [scale(), passes],
      [scale('statefulsets'), passes],
      [jsonScale(knativeAutoscaler), passes],
    ],
  },
  {
    name: 'FC-20 FC-21 autoscalers are refused like everybody else',
    policies: [freezeOf(['SCALE'])],
    requests: [
      [scale('deployments', autoscaler), refused],
      [jsonScale(knativeAutoscaler), refused],
    ],
  },
  {
    name: 'FC-27 a GitOps tool is told by whom and until when in one line',
    policies: [freezeOf(['ROLL_OUT'])],
    requests: [[rollout({}, argo), '403 [freeze-operator] sync blocked by holiday until 2026-12-27T00:00:00Z']],
  },
  {
    name: 'FC-27 a GitOps tool is told no end by a MaintenanceWindow',
    policies: [windowsOf([{ schedule: '0 22 * * *', duration: '4h' }], 'UTC', 'nights')],
    requests: [[rollout({}, argo), '403 [freeze-operator] sync blocked by nights']],
  },
];

const labelled = { objectSelector: { matchLabels: { app: 'pay' } } };

const selectors: readonly Case[] = [
  {
    name: 'FC-28 without a namespaceSelector a policy is about kube-system too',
    policies: [freezeOf(['CREATE'], { target: targetOf('Deployment', {}) })],
    requests: [[creation('deployments', 'kube-system'), refused]],
  },
  {
    name: 'FC-29 NotIn matches a namespace that has no such label',
    policies: [
      freezeOf(['CREATE'], {
        target: targetOf('Deployment', {
          namespaceSelector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['staging'] }] },
        }),
      }),
    ],
    requests: [
      [creation('deployments', 'plain'), refused],
      [creation('deployments', 'staging'), passes],
    ],
  },
  {
    name: 'FC-30 taking a label away does not take a workload out of a freeze',
    labels: { app: 'pay' },
    policies: [freezeOf(['ROLL_OUT'], { target: targetOf('Deployment', labelled) })],
    requests: [[update({ metadata: { labels: { app: null } } }), refused]],
  },
  {
    name: 'FC-30 taking another label away is not the business of that freeze',
    labels: { app: 'web' },
    policies: [freezeOf(['ROLL_OUT'], { target: targetOf('Deployment', labelled) })],
    requests: [
      [update({ metadata: { labels: { app: null } } }), passes],
      [update({ metadata: { labels: { app: 'pay' } } }), refused],
    ],
  },
  {
    name: 'FC-31 DaemonSets are covered when listed, and only they',
    policies: [freezeOf(['CREATE', 'DELETE'], { target: targetOf('DaemonSet') })],
    requests: [
      [creation('daemonsets'), refused],
      [deletion('daemonsets'), refused],
      [creation('statefulsets'), passes],
      [deletion('deployments'), passes],
    ],
  },
  {
    name: 'FC-31 StatefulSets are covered when listed, and only they',
    policies: [freezeOf(['CREATE', 'DELETE'], { target: targetOf('StatefulSet') })],
    requests: [
      [creation('statefulsets'), refused],
      [deletion('statefulsets'), refused],
      [creation('daemonsets'), passes],
      [deletion('daemonsets'), passes],
    ],
  },
  {
    name: 'FC-32 a new schedule of a CronJob is a rollout',
    policies: [freezeOf(['ROLL_OUT'], { target: targetOf('CronJob') })],
    requests: [
      [update({ spec: { schedule: '0 3 * * *' } }, 'cronjobs'), refused],
      [deletion('cronjobs'), passes],
    ],
  },
];

const never = windowsOf([{ schedule: '0 0 30 2 *', duration: '1h' }], 'UTC', 'never');

const overlaps: readonly Case[] = [
  {
    name: 'FC-47 a window that never opens refuses without a time',
    policies: [never],
    requests: [
      [rollout(), refusedBy('MaintenanceWindow/never: Outside maintenance window')],
      [deletion(), refusedBy('MaintenanceWindow/never: Outside maintenance window')],
    ],
  },
  ...[
    { at: '2026-06-15T13:00:00Z', becomes: passes },
    {
      at: '2026-06-15T14:00:00Z',
      becomes: refusedBy('MaintenanceWindow/windows: Outside maintenance window: Next allowed at 2026-06-16T08:00:00Z'),
    },
  ].map(({ at, becomes }): Case => {
    const windows = ['0 8 * * *', '0 10 * * *'].map((schedule) => ({ schedule, duration: '4h' }));
    const name = `FC-49 at ${at} under windows from 8 to 12 and from 10 to 14: ${becomes.slice(0, 10)}`;
    return { name, at, policies: [windowsOf(windows)], requests: [[rollout(), becomes]] };
  }),
  {
    name: 'FC-37 a window that the clocks skip opens when they go forward, if asked for',
    at: '2026-03-29T01:15:00Z',
    policies: [windowsOf([{ schedule: '30 2 * * *', duration: '1h', onSkipped: 'NextValid' }], 'Europe/Berlin')],
    requests: [[rollout(), passes]],
  },
  {
    name: 'FC-50 a window that can not be read is closed, and the others count',
    policies: [
      windowsOf([
        { schedule: 'at night', duration: '4h' },
        { schedule: '0 22 * * *', duration: '4h' },
      ]),
    ],
    requests: [
      [
        rollout(),
        refusedBy('MaintenanceWindow/windows: Outside maintenance window: Next allowed at 2026-12-25T22:00:00Z'),
      ],
    ],
  },
  {
    name: 'FC-51 of two freezes the one that ends first is named, and when both are over',
    policies: [freezeUntil('2026-12-26T10:00:00Z', 'a'), freezeUntil('2026-12-26T12:00:00Z', 'b')],
    requests: [
      [
        rollout(),
        refusedBy(
          'ChangeFreeze/a: ChangeFreeze is active: Next allowed at 2026-12-26T10:00:00Z: All policies clear at 2026-12-26T12:00:00Z',
        ),
      ],
    ],
  },
  {
    name: 'FC-52 a freeze and windows are clear when a window opens after the freeze',
    at: '2026-12-28T14:00:00Z',
    policies: [
      freezeUntil('2027-01-02T09:00:00Z', 'holiday'),
      windowsOf([{ schedule: '0 1 * * *', duration: '6h' }], 'UTC', 'nights'),
    ],
    requests: [
      [
        rollout(),
        refusedBy(
          'MaintenanceWindow/nights: Outside maintenance window: Next allowed at 2026-12-29T01:00:00Z: All policies clear at 2027-01-03T01:00:00Z',
        ),
      ],
    ],
  },
  {
    name: 'FC-53 inside a window the freeze still refuses',
    policies: [freezeOf(everything), windowsOf([{ schedule: '0 8 * * *', duration: '10h' }])],
    requests: [
      [
        rollout(),
        refusedBy(
          'ChangeFreeze/holiday: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z: All policies clear at 2026-12-27T08:00:00Z',
        ),
      ],
    ],
  },
  {
    name: 'FC-54 freezes that end together are named by the alphabet',
    policies: [freezeUntil(christmas[1], 'b'), freezeUntil(christmas[1], 'a')],
    requests: [[rollout(), refusedBy('ChangeFreeze/a: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z')]],
  },
  {
    name: 'FC-55 a policy that never ends is named last',
    policies: [never, freezeUntil(christmas[1], 'zebra')],
    requests: [
      [rollout(), refusedBy('ChangeFreeze/zebra: ChangeFreeze is active: Next allowed at 2026-12-27T00:00:00Z')],
    ],
  },
];

const hotfix = { metadata: { labels: { hotfix: 'true' } } };

const exceptions: readonly Case[] = [
  {
    name: 'FC-56 an exception lets pass what it allows and nothing else',
    policies: [freezeOf(everything), exceptionOf({ allow: ['ROLL_OUT'] })],
    requests: [
      [rollout(), passes],
      [rollout({ spec: { replicas: 5 } }), refused],
      [scale(), refused],
      [deletion(), refused],
    ],
  },
  {
    name: 'FC-57 an exception for users and for groups asks for both',
    policies: [freezeOf(everything), exceptionOf({ constraints: { allowedUsers: ['a'], allowedGroups: ['g'] } })],
    requests: [
      [rollout({}, { user: 'a' }), refused],
      [rollout({}, { user: 'b', groups: ['g'] }), refused],
      [rollout({}, { user: 'a', groups: ['other', 'g'] }), passes],
    ],
  },
  {
    name: 'FC-58 an exception that requires a label lets nobody pass without it',
    policies: [freezeOf(everything), exceptionOf({ constraints: { requireLabels: { hotfix: 'true' } } })],
    requests: [
      [rollout(), refused],
      [rollout({ metadata: { labels: { hotfix: 'no' } } }), refused],
      [rollout(hotfix), passes],
    ],
  },
  {
    name: 'FC-58 an exception that requires an empty label asks for the label',
    policies: [freezeOf(everything), exceptionOf({ constraints: { requireLabels: { x: '' } } })],
    requests: [
      [rollout(), refused],
      [rollout({ metadata: { labels: { x: '' } } }), passes],
    ],
  },
  ...[
    { at: '2026-12-25T13:59:59.999Z', becomes: passes },
    { at: '2026-12-25T14:00:00Z', becomes: refused },
  ].map(({ at, becomes }): Case => ({
    name: `FC-59 at ${at} a change under an exception until 14:00: ${becomes.slice(0, 10)}`,
    at,
    policies: [freezeOf(everything), exceptionOf({ activeTo: '2026-12-25T14:00:00Z' })],
    requests: [[rollout(), becomes]],
  })),
];

export const cases: readonly Case[] = [...basics, ...controllers, ...selectors, ...overlaps, ...exceptions];

/** A window by its zone, schedule and duration; and at which instants it is open, or opens next. */
type WindowCase = readonly [string, string, string, string, Readonly<Record<string, string>>];

export const open = 'open';

export const windowCases: readonly WindowCase[] = [
  [
    'FC-33',
    'UTC',
    '0 22 * * *',
    '4h',
    {
      '2026-06-15T21:59:59.999Z': '2026-06-15T22:00:00Z',
      '2026-06-15T22:00:00Z': open,
      '2026-06-16T01:30:00Z': open,
      '2026-06-16T02:00:00Z': '2026-06-16T22:00:00Z',
    },
  ],
  [
    'FC-34',
    'UTC',
    '0 22 31 12 *',
    '6h',
    { '2027-01-01T02:00:00Z': open, '2027-01-01T04:00:00Z': '2027-12-31T22:00:00Z' },
  ],
  [
    'FC-35',
    'Europe/Berlin',
    '0 1 * * *',
    '6h',
    { '2026-03-29T05:30:00Z': open, '2026-03-29T06:00:00Z': '2026-03-29T23:00:00Z' },
  ],
  [
    'FC-36',
    'Europe/Berlin',
    '0 1 * * *',
    '6h',
    { '2026-10-25T04:59:00Z': open, '2026-10-25T05:00:00Z': '2026-10-26T00:00:00Z' },
  ],
  ['FC-37', 'Europe/Berlin', '30 2 * * *', '1h', { '2026-03-29T01:15:00Z': '2026-03-30T00:30:00Z' }],
  [
    'FC-38',
    'Europe/Berlin',
    '30 2 * * *',
    '30m',
    {
      '2026-10-25T00:45:00Z': open,
      '2026-10-25T01:15:00Z': '2026-10-25T01:30:00Z',
      '2026-10-25T01:45:00Z': open,
    },
  ],
  ['FC-39', 'America/New_York', '0 2 * * *', '1h', { '2026-03-07T17:00:00Z': '2026-03-09T06:00:00Z' }],
  [
    'FC-40',
    'America/New_York',
    '0 1 * * *',
    '1h',
    {
      '2026-11-01T05:00:00Z': open,
      '2026-11-01T06:00:00Z': open,
      '2026-11-01T07:00:00Z': '2026-11-02T06:00:00Z',
    },
  ],
  ['FC-41', 'America/Santiago', '0 0 * * *', '2h', { '2026-09-05T12:00:00Z': '2026-09-07T03:00:00Z' }],
  ['FC-42', 'UTC', '* * * * *', '1m', { '2026-06-15T21:59:59.999Z': open, '2026-06-15T22:00:00Z': open }],
  ['FC-42', 'UTC', '*/2 * * * *', '2m', { '2026-06-15T21:59:59.999Z': open, '2026-06-15T22:01:30Z': open }],
  [
    'FC-43',
    'UTC',
    '0 0 1 * *',
    '480h',
    { '2026-06-16T00:00:00Z': open, '2026-06-21T00:00:00Z': '2026-07-01T00:00:00Z' },
  ],
  ['FC-44', 'UTC', '0 * * * *', '90m', { '2026-06-16T00:29:59Z': open, '2026-06-16T00:59:59Z': open }],
  ['FC-45', 'Europe/Berlin', 'CRON_TZ=Asia/Tokyo 0 3 * * *', '1h', { '2026-06-15T18:30:00Z': open }],
  [
    'FC-46',
    'UTC',
    '0 0 13 * 5',
    '24h',
    {
      '2026-10-13T12:00:00Z': open,
      '2026-10-16T12:00:00Z': open,
      '2026-10-14T12:00:00Z': '2026-10-16T00:00:00Z',
    },
  ],
  ['FC-48', 'UTC', '0 0 29 2 *', '1h', { '2026-06-16T00:00:00Z': '2028-02-29T00:00:00Z' }],
];
