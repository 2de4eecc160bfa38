import { poolKey, pool } from './pods.ts';

/** Numbers that look random and are the same for the same seed. */
export type Dice = () => number;

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/*
 * Reviews as text, as no client would write them by hand: right shapes most of the time, and in every place now and then
 * nothing, null, an object for a list, a list for an object, a number too large for JavaScript or a name of a prototype.
 */

const oddities = [
  'null',
  '{}',
  '[]',
  '[null]',
  '""',
  '0',
  'true',
  '9007199254740993',
  '-123456789012345678901234567890.5e-3',
  '1e400',
  '{"__proto__":{"affinity":{}},"constructor":1}',
  '{"toString":null,"hasOwnProperty":[]}',
  '"\\u0000\\ud800\\u2028"',
];

type Make = (dice: Dice) => string;

function pick<T>(dice: Dice, values: readonly T[]): T {
  return values[Math.floor(dice() * values.length)] as T;
}

/** What belongs there, or in one of fifteen cases something else. */
function mostly(make: Make): Make {
  return (dice) => (dice() < 1 / 15 ? pick(dice, oddities) : make(dice));
}

function text(...values: readonly string[]): Make {
  return (dice) => JSON.stringify(pick(dice, values));
}

/** An object that has each field in two of three cases, and sometimes one that nobody expects. */
function object(fields: Readonly<Record<string, Make>>): Make {
  const entries = Object.entries(fields);
  return mostly((dice) => {
    const present = entries.filter(() => dice() < 2 / 3).map(([key, make]) => `${JSON.stringify(key)}:${make(dice)}`);
    const unknown = dice() < 0.1 ? [`${text('__proto__', 'x', 'constructor')(dice)}:${pick(dice, oddities)}`] : [];
    return `{${[...present, ...unknown].join(',')}}`;
  });
}

function list(make: Make, most = 3): Make {
  return mostly((dice) => `[${Array.from({ length: Math.floor(dice() * (most + 1)) }, () => make(dice)).join(',')}]`);
}

const expression = object({
  key: text(poolKey, 'zone', 'constructor'),
  operator: text('In', 'NotIn', 'Exists'),
  values: list(text(pool, 'other', ''), 2),
});
const term = object({
  matchExpressions: list(expression, 2),
  matchFields: list(object({ key: text('metadata.name'), operator: text('In'), values: list(text('n1'), 1) }), 1),
});
const marks = text('true', 'false', '');
const annotations = object({
  'node-affinity-mutate.kube-reflex.dev/skip': text('false', 'false', 'true'),
  other: marks,
});
const pod = object({
  apiVersion: text('v1'),
  metadata: object({
    name: text('web', '__proto__'),
    annotations,
    labels: object({ app: text('web', 'db'), constructor: marks }),
    ownerReferences: list(object({ kind: text('ReplicaSet', 'DaemonSet'), controller: pickFrom('true', 'false') }), 1),
  }),
  spec: object({
    containers: list(object({ name: text('main'), runAsUser: pickFrom('9007199254740993', '1') }), 1),
    nodeName: text('', ''),
    tolerations: list(object({ key: text('spot', 'x'), operator: text('Exists') }), 2),
    affinity: object({
      podAntiAffinity: object({ x: pickFrom(...oddities) }),
      nodeAffinity: object({
        preferredDuringSchedulingIgnoredDuringExecution: list(
          object({ weight: pickFrom('1', '100', '10'), preference: term }),
        ),
        requiredDuringSchedulingIgnoredDuringExecution: object({ nodeSelectorTerms: list(term) }),
      }),
    }),
  }),
});

function pickFrom(...values: readonly string[]): Make {
  return (dice) => pick(dice, values);
}

/** Seldom not what the webhook asks for, as nothing much would be shown by that. */
function usually(value: string): Make {
  return (dice) => (dice() < 0.01 ? pick(dice, oddities) : value);
}

const operation = usually('"CREATE"');
const kind = usually('{"group":"","version":"v1","kind":"Pod"}');
const resource = usually('{"group":"","version":"v1","resource":"pods"}');
const namespace = mostly(text('shop', 'constructor', '__proto__', 'team-a'));

export interface OddReview {
  readonly request: string;
  readonly pod: string;
}

/** A request as compact JSON, and the pod in it. */
export function oddReview(dice: Dice): OddReview {
  const object = pod(dice);
  const request = [
    '"uid":"u"',
    `"operation":${operation(dice)}`,
    `"kind":${kind(dice)}`,
    `"resource":${resource(dice)}`,
    `"namespace":${namespace(dice)}`,
    `"object":${object}`,
  ];
  return { request: `{${request.join(',')}}`, pod: object };
}
