import type { Resource } from '../../../lib/kube/model/resource.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { changeFreezes, freezeExceptions, maintenanceWindows, type PolicyKind } from '../policy.ts';
import {
  actionList,
  choice,
  denying,
  flag,
  instant,
  listOfTexts,
  mapOfTexts,
  object,
  some,
  target,
  text,
  told,
  toldOfDenying,
  type Schema,
} from './schema.ts';

interface Column {
  readonly name: string;
  readonly type: 'boolean' | 'date' | 'string';
  readonly jsonPath: string;
}

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const active: Column = { name: 'Active', type: 'boolean', jsonPath: '.status.active' };

const opening: Schema = object(
  { name: { type: 'string' }, startTime: instant('When it opens.'), endTime: instant('When it closes.') },
  'name',
  'startTime',
  'endTime',
);

const maintenanceWindow: Parts = {
  shortName: 'mw',
  columns: [
    active,
    { name: 'Window', type: 'string', jsonPath: '.status.activeWindow.name' },
    { name: 'Next', type: 'string', jsonPath: '.status.nextWindow.startTime' },
    age,
  ],
  spec: object(
    {
      timezone: text('Zone of the schedules, by its IANA name.', { minLength: 1 }),
      mode: choice(['DenyOutsideWindows', 'DenyInsideWindows'], 'When it refuses.'),
      windows: some(
        object(
          {
            name: text('Told in status and Events.', { minLength: 1 }),
            schedule: text(
              'When it opens: five-field cron expression, a zone of its own before it as CRON_TZ=<zone>.',
              {
                minLength: 1,
              },
            ),
            duration: text('How long it stays open, such as 4h or 1h30m.'),
            onSkipped: choice(
              ['Skip', 'NextValid'],
              'An opening that the clocks skip in spring is left out, or comes when they go forward. Default Skip.',
            ),
          },
          'name',
          'schedule',
          'duration',
        ),
        'One that is open is enough.',
      ),
      ...denying,
    },
    'timezone',
    'mode',
    'windows',
    'target',
    'rules',
  ),
  status: object({
    active: flag('A window is open now.'),
    activeWindow: opening,
    nextWindow: opening,
    ...toldOfDenying,
  }),
};

const changeFreeze: Parts = {
  shortName: 'cf',
  columns: [
    active,
    { name: 'Start', type: 'string', jsonPath: '.spec.startTime' },
    { name: 'End', type: 'string', jsonPath: '.spec.endTime' },
    { name: 'Remaining', type: 'string', jsonPath: '.status.timeRemaining' },
    age,
  ],
  spec: {
    ...object(
      {
        startTime: instant('When it begins.'),
        endTime: instant('When it is over.'),
        schedule: text(
          'When it begins again and again, instead of startTime and endTime: five-field cron expression.',
          {
            minLength: 1,
          },
        ),
        duration: text('How long it lasts each time, such as 48h.'),
        timezone: text(
          'Zone of the schedule, by its IANA name; for startTime and endTime it only matters to messages.',
        ),
        ...denying,
      },
      'target',
      'rules',
    ),
    'x-kubernetes-validations': [
      {
        rule: '!has(self.startTime) || !has(self.endTime) || self.endTime > self.startTime',
        message: 'endTime must be after startTime',
      },
      {
        rule: 'has(self.schedule) ? has(self.duration) && !has(self.startTime) && !has(self.endTime) : has(self.startTime) && has(self.endTime) && !has(self.duration)',
        message: 'startTime and endTime are required, or schedule and duration instead of them',
      },
    ],
  },
  status: object({
    active: flag('The freeze is on.'),
    timeRemaining: text('How long it is still on.'),
    ...toldOfDenying,
  }),
};

const freezeException: Parts = {
  shortName: 'fex',
  columns: [
    active,
    { name: 'From', type: 'string', jsonPath: '.spec.activeFrom' },
    { name: 'To', type: 'string', jsonPath: '.spec.activeTo' },
    { name: 'Approved-By', type: 'string', jsonPath: '.spec.approvedBy' },
    age,
  ],
  spec: {
    ...object(
      {
        activeFrom: instant('When it begins.'),
        activeTo: instant('When it is over.'),
        target,
        allow: actionList('What may be done in spite of freezes and closed windows.'),
        reason: text('Why.', { minLength: 1 }),
        ticketURL: text('Where that was agreed.'),
        approvedBy: text('Who agreed.'),
        constraints: {
          ...object({
            requireLabels: mapOfTexts('Labels that the workload must carry.'),
            allowedUsers: listOfTexts('Only these users.'),
            allowedGroups: listOfTexts('Only members of one of these groups.'),
          }),
          description: 'What else must be so. All that is given must hold.',
        },
      },
      'activeFrom',
      'activeTo',
      'target',
      'allow',
      'reason',
    ),
    'x-kubernetes-validations': [
      { rule: 'self.activeTo > self.activeFrom', message: 'activeTo must be after activeFrom' },
    ],
  },
  status: object({ active: flag('The exception holds now.'), ...told }),
};

/** The kinds of freeze-check, as kube-freeze-operator has them and with what is new. */
export const policyKinds: readonly Manifest[] = [
  definition(maintenanceWindows, maintenanceWindow),
  definition(changeFreezes, changeFreeze),
  definition(freezeExceptions, freezeException),
];

/** The schema of each kind's spec. */
export const specs: Readonly<Record<PolicyKind, Schema>> = {
  MaintenanceWindow: maintenanceWindow.spec,
  ChangeFreeze: changeFreeze.spec,
  FreezeException: freezeException.spec,
};

interface Parts {
  readonly shortName: string;
  readonly columns: readonly Column[];
  readonly spec: Schema;
  readonly status: Schema;
}

function definition({ group, version, kind, plural }: Resource, { shortName, columns, spec, status }: Parts): Manifest {
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { ...names, shortNames: [shortName], categories: ['freeze'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: object(
              { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, spec, status },
              'spec',
            ),
          },
        },
      ],
    },
  };
}
