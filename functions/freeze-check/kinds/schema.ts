import { actions, enforcements, targetKinds } from '../policy.ts';

/** As much of a structural schema as our kinds need. */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'boolean' | 'integer';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly enum?: readonly string[];
  readonly format?: 'date-time' | 'int64';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly default?: string | boolean;
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-list-type'?: 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

export function object(properties: Readonly<Record<string, Schema>>, ...required: readonly string[]): Schema {
  return {
    type: 'object',
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required: [...required] }),
  };
}

export function text(description: string, more: Pick<Schema, 'minLength'> = {}): Schema {
  return { type: 'string', description, ...more };
}

export function choice(values: readonly string[], description: string): Schema {
  return { type: 'string', enum: values, description };
}

/** At least one of them. */
export function some(items: Schema, description: string): Schema {
  return { type: 'array', minItems: 1, items, description };
}

export function flag(description: string): Schema {
  return { type: 'boolean', description };
}

export function instant(description: string): Schema {
  return { type: 'string', format: 'date-time', description };
}

const texts: Schema = { type: 'array', items: { type: 'string' } };
const textMap: Schema = { type: 'object', additionalProperties: { type: 'string' } };

export function listOfTexts(description: string): Schema {
  return { ...texts, description };
}

export function mapOfTexts(description: string): Schema {
  return { ...textMap, description };
}

export function selector(description: string): Schema {
  const requirement = object(
    { key: { type: 'string' }, operator: { type: 'string' }, values: texts },
    'key',
    'operator',
  );
  return {
    ...object({ matchLabels: textMap, matchExpressions: { type: 'array', items: requirement } }),
    'x-kubernetes-map-type': 'atomic',
    description,
  };
}

export function actionList(description: string): Schema {
  return some({ type: 'string', enum: actions }, description);
}

export const target: Schema = {
  ...object(
    {
      kinds: some({ type: 'string', enum: targetKinds }, 'The kinds of workloads that it is about.'),
      namespaceSelector: selector('By the labels of their namespace. Absent: all.'),
      objectSelector: selector('By their own labels. Absent: all.'),
    },
    'kinds',
  ),
  description: 'The workloads that it is about: all of kinds, namespaceSelector and objectSelector must match.',
};

const gitops: Schema = {
  ...object(
    {
      enabled: { type: 'boolean', default: false },
      providers: { type: 'array', items: { type: 'string', enum: ['argocd', 'flux'] } },
      argocd: object({
        applicationSelector: selector('The Applications to pause. Absent: all.'),
        namespaceSelector: selector('The namespaces of the Applications. Absent: all.'),
        pauseMode: {
          ...choice(
            ['DisableAutoSync', 'SetEnabledFalse'],
            'Takes the automated policy away, or sets its `enabled` to false.',
          ),
          default: 'DisableAutoSync',
        },
      }),
      flux: object({
        kustomizationSelector: selector('The Kustomizations to suspend. Absent: all.'),
        helmReleaseSelector: selector('The HelmReleases to suspend. Absent: all.'),
        namespaceSelector: selector('The namespaces of both. Absent: all.'),
      }),
    },
    'enabled',
  ),
  description: 'Pauses GitOps tools while the policy denies.',
};

/** What all policies have that deny. */
export const denying: Readonly<Record<string, Schema>> = {
  target,
  rules: object(
    {
      deny: actionList('What is refused.'),
      allowRollback: flag('Lets a rollout pass that goes back to an earlier revision of the workload.'),
    },
    'deny',
  ),
  enforcement: choice(
    enforcements,
    'Enforce refuses, Warn lets pass with a warning, Audit only counts. Default Enforce.',
  ),
  behavior: object({
    suspendCronJobs: flag('Suspends the CronJobs it is about while the policy denies.'),
    gitops,
  }),
  message: object({
    reason: text('Why, for the people who are refused.'),
    docsURL: text('Where they can read more.'),
    contact: text('Whom they can ask.'),
  }),
};

const condition: Schema = object(
  {
    type: {
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
    message: { type: 'string', maxLength: 32_768 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
  'lastTransitionTime',
  'message',
  'reason',
  'status',
  'type',
);

/** What every status tells. */
export const told: Readonly<Record<string, Schema>> = {
  observedGeneration: { type: 'integer', format: 'int64' },
  conditions: {
    type: 'array',
    items: condition,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  },
};

export const toldOfDenying: Readonly<Record<string, Schema>> = {
  ...told,
  gitopsPausedCount: { type: 'integer', description: 'Objects of GitOps tools that this policy holds now.' },
  gitopsLastReconcileTime: { type: 'string', format: 'date-time' },
};
