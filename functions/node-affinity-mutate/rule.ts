import * as z from 'zod/mini';
import { dnsLabel } from '../../lib/function/config.ts';
import {
  formatSelector,
  labelValue,
  parseSelector,
  qualifiedName,
  type Requirement,
} from '../../lib/kube/model/selector.ts';

/*
 * What an operator may ask for, checked as strictly as the API server checks a pod: whatever passes here can be put into
 * a pod without the pod being refused for it.
 */

const labelKey = z.string().check(z.regex(qualifiedName, 'must be a label key'));
const labelText = z.string().check(z.regex(labelValue, 'must be a label value'));
const name = z.string().check(z.regex(dnsLabel.test, dnsLabel.says));
const glob = z
  .string()
  .check(z.regex(/^[-a-z0-9*]{1,63}$/, 'must be the name of a namespace, with * for any characters'));
const kind = z.string().check(z.regex(/^[A-Z][A-Za-z0-9]{0,62}$/, 'must be a kind such as ReplicaSet'));
const weight = 'must be a whole number from 1 to 100';

/** One condition on the labels of a node. */
const Expression = z
  .strictObject({
    key: labelKey,
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
    values: z.exactOptional(z.array(labelText)),
  })
  .check(z.refine(valuesFit, { path: ['values'], error: 'must fit the operator' }));
export type Expression = z.output<typeof Expression>;

const Term = z.strictObject({
  matchExpressions: z.array(Expression).check(z.minLength(1, 'must not be empty'), z.maxLength(20)),
});

const Selector = z.strictObject({
  matchLabels: z.exactOptional(z.record(labelKey, labelText)),
  matchExpressions: z.exactOptional(
    z.array(
      z
        .strictObject({
          key: labelKey,
          operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: z.exactOptional(z.array(labelText)),
        })
        .check(z.refine(valuesFit, { path: ['values'], error: 'must fit the operator' })),
    ),
  ),
});

const Toleration = z
  .strictObject({
    key: z.exactOptional(labelKey),
    operator: z.exactOptional(z.enum(['Exists', 'Equal'])),
    value: z.exactOptional(labelText),
    effect: z.exactOptional(z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
    tolerationSeconds: z.exactOptional(z.int()),
  })
  .check(
    z.refine(({ key, operator }) => key !== undefined || operator === 'Exists', {
      path: ['operator'],
      error: 'must be Exists where no key is given',
    }),
    z.refine(({ operator, value = '' }) => operator !== 'Exists' || value === '', {
      path: ['value'],
      error: 'must not be given with the operator Exists',
    }),
    z.refine(({ effect, tolerationSeconds }) => tolerationSeconds === undefined || effect === 'NoExecute', {
      path: ['tolerationSeconds'],
      error: 'must only be given with the effect NoExecute',
    }),
  );
export type Toleration = z.output<typeof Toleration>;

/** Which pods a rule is for. All that is given must hold; nothing given means every pod that is looked at. */
const Match = z.strictObject({
  namespaces: z.exactOptional(z.array(glob).check(z.minLength(1, 'must not be empty'))),
  namespaceSelector: z.exactOptional(Selector),
  podSelector: z.exactOptional(Selector),
  excludePodLabels: z.exactOptional(z.record(labelKey, labelText)),
  ownerKinds: z.exactOptional(z.array(kind).check(z.minLength(1, 'must not be empty'))),
});
export type Match = z.output<typeof Match>;

const Given = z
  .strictObject({
    name,
    match: z._default(Match, {}),
    pool: z.exactOptional(
      z.strictObject({ key: labelKey, values: z.array(labelText).check(z.minLength(1, 'must not be empty')) }),
    ),
    term: z.exactOptional(Term),
    weight: z._default(z.int(weight).check(z.minimum(1, weight), z.maximum(100, weight)), 10),
    mode: z._default(z.enum(['preferred', 'required']), 'preferred'),
    tolerations: z._default(z.array(Toleration).check(z.maxLength(20)), []),
    stop: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ pool, term }) => (pool === undefined) !== (term === undefined), {
      path: ['pool'],
      error: 'must be given, or term in its place, and not both',
    }),
  );

/** A rule as it is kept: a pool is the short form of a term. */
const Rule = z.pipe(
  Given,
  z.transform(({ pool, term, ...rest }) => ({
    ...rest,
    term: term ?? { matchExpressions: pool === undefined ? [] : [{ ...pool, operator: 'In' as const }] },
  })),
);
export type Rule = z.output<typeof Rule>;

const Rules = z
  .array(Rule, 'must be a list of rules')
  .check(z.maxLength(100, 'must not be more than 100 rules'))
  .check(
    z.refine((rules) => new Set(rules.map((rule) => rule.name)).size === rules.length, {
      error: 'must have names that differ',
    }),
  );

/** The rules in a parsed document, or what is wrong with them, each with the path of its field. */
export function readRules(
  document: unknown,
): { readonly rules: readonly Rule[] } | { readonly problems: readonly string[] } {
  const result = z.safeParse(Rules, document, { jitless: true, reportInput: true });
  if (result.success) {
    return { rules: result.data };
  }
  return { problems: result.error.issues.map((issue) => `${fieldPath(issue.path)} ${whatIsWrong(issue)}`.trim()) };
}

/** The small edition of zod brings no words of its own. */
function whatIsWrong(issue: z.core.$ZodIssue): string {
  if (issue.message !== 'Invalid input') {
    return issue.message;
  }
  switch (issue.code) {
    case 'unrecognized_keys':
      return `must not have the field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_type':
      return issue.input === undefined ? 'must be given' : `must be of type ${issue.expected}`;
    case 'too_big':
      return `must not have more than ${issue.maximum}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'too_small':
      return 'is wrong';
  }
}

function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function valuesFit({ operator, values = [] }: { readonly operator: string; readonly values?: string[] | undefined }) {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Gt':
    case 'Lt':
      return values.length === 1 && /^-?\d{1,15}$/.test(values[0] ?? '');
    default:
      return values.length === 0;
  }
}

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!', Gt: 'gt', Lt: 'lt' } as const;

/** The nodes that a rule is about, as a label selector. It also names the pool in the state and in metrics. */
export function poolOf({ term }: Pick<Rule, 'term'>): string {
  const requirements = term.matchExpressions.map(({ key, operator, values = [] }): Requirement => ({
    key,
    operator: operators[operator],
    values: values.toSorted(),
  }));
  return formatSelector(requirements);
}

const operatorNames = { in: 'In', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist', gt: 'Gt', lt: 'Lt' } as const;

/** A pool as a namespace names it, `key=value` or any label selector of nodes; `undefined` where it is none. */
export function readPool(selector: string): readonly Expression[] | undefined {
  const { data } = z.safeParse(Term, { matchExpressions: expressionsIn(selector) }, { jitless: true });
  return data?.matchExpressions;
}

function expressionsIn(selector: string): unknown[] {
  try {
    return parseSelector(selector).map(({ key, operator, values }) => ({
      key,
      operator: operatorNames[operator],
      ...(values.length === 0 ? {} : { values }),
    }));
  } catch {
    return [];
  }
}
