import { quote } from '../../../lib/base/quote.ts';
import { parseInstant } from '../../../lib/time/instant.ts';
import type { Policies } from '../policies.ts';
import { actions, targetKinds, type Action, type TargetKind } from '../policy.ts';
import { isRecord } from '../../../lib/base/json.ts';
import type { Labels } from '../target.ts';
import { readSupposed } from './supposed.ts';

/** A question to the query API: may this be done there, now or at another time? */
export interface Query {
  readonly namespace: string;
  readonly kind: TargetKind;
  readonly action: Action;
  readonly name?: string;
  /** Absent: those of the workload of that name. */
  readonly labels?: Labels;
  readonly user: string;
  readonly groups: readonly string[];
  readonly at?: number;
  /** As if these were applied. */
  readonly policies?: Policies;
}

/** More questions than this want several requests: all share the connections of reviews. */
const mostQuestions = 1_000;
const mostPolicies = 100;

/** A question that can't be answered, told as it stands. */
export class BadQuery extends Error {}

/** The question of a GET: labels as `app=web,tier=front`, groups with commas. */
export function queryOfParameters(parameters: URLSearchParams): Query {
  const { labels, groups, ...given } = Object.fromEntries(parameters);
  return queryOf({
    ...given,
    ...(labels === undefined ? {} : { labels: labelsOf(labels) }),
    ...(groups === undefined ? {} : { groups: parts(groups) }),
  });
}

/** The questions of a POST: one, or a list of them. */
export function queriesOfBody(body: unknown): { readonly isBatch: boolean; readonly queries: readonly Query[] } {
  const given = parse(typeof body === 'string' ? body : '');
  if (!Array.isArray(given)) {
    return { isBatch: false, queries: [queryOf(given)] };
  }
  if (given.length > mostQuestions) {
    throw new BadQuery(`at most ${mostQuestions} questions at once, got ${given.length}`);
  }
  const supposed = given.flatMap((each: unknown) => (isRecord(each) ? (each['policies'] ?? []) : []));
  if (supposed.length > mostPolicies) {
    throw new BadQuery(`policies: at most ${mostPolicies} in all questions at once, got ${supposed.length}`);
  }
  return { isBatch: true, queries: given.map(queryOf) };
}

function parse(body: string): unknown {
  return understood('invalid JSON: ', () => JSON.parse(body) as unknown);
}

function queryOf(given: unknown): Query {
  if (!isRecord(given)) {
    throw new BadQuery('invalid JSON: expected an object or a list of objects');
  }
  const [namespace, kind, action] = ['namespace', 'kind', 'action'].map((field) => textOf(given, field) ?? '');
  if (!namespace || !kind || !action) {
    throw new BadQuery('namespace, kind, and action are required');
  }
  const [name, at] = [textOf(given, 'name'), textOf(given, 'at')];
  const { labels, policies } = given;
  return {
    namespace,
    kind: oneOf(kind, targetKinds, 'kind'),
    action: oneOf(action, actions, 'action'),
    user: textOf(given, 'user') ?? '',
    groups: textsOf(given, 'groups'),
    ...(name === undefined ? {} : { name }),
    ...(labels === undefined ? {} : { labels: textMapOf(labels) }),
    ...(at === undefined ? {} : { at: understood('at: ', () => parseInstant(at)) }),
    ...(policies === undefined ? {} : { policies: supposedOf(policies) }),
  };
}

function oneOf<T extends string>(value: string, valid: readonly T[], what: string): T {
  const found = valid.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new BadQuery(`unsupported ${what}: ${value}; valid: ${valid.join(', ')}`);
  }
  return found;
}

function textOf(given: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = given[field];
  if (value !== undefined && typeof value !== 'string') {
    throw new BadQuery(`${field} must be text`);
  }
  return value === '' ? undefined : value;
}

function textsOf(given: Readonly<Record<string, unknown>>, field: string): readonly string[] {
  const { [field]: value = [] } = given;
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    throw new BadQuery(`${field} must be a list of texts`);
  }
  return value;
}

function textMapOf(value: unknown): Labels {
  if (!isRecord(value) || !Object.values(value).every((each) => typeof each === 'string')) {
    throw new BadQuery('labels must be an object of texts');
  }
  return value as Labels;
}

function supposedOf(value: unknown): Policies {
  if (!Array.isArray(value)) {
    throw new BadQuery('policies must be a list of manifests');
  }
  if (value.length > mostPolicies) {
    throw new BadQuery(`at most ${mostPolicies} policies in a question, got ${value.length}`);
  }
  return understood('', () => readSupposed(value));
}

function understood<T>(prefix: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BadQuery(`${prefix}${(error as Error).message}`);
  }
}

function labelsOf(text: string): Labels {
  return Object.fromEntries(
    parts(text).map((part) => {
      const [key = '', value] = part.split(/=(.*)/s);
      if (value === undefined) {
        throw new BadQuery(`labels must be as in app=web,tier=front, got ${quote(part)}`);
      }
      return [key, value];
    }),
  );
}

function parts(text: string): readonly string[] {
  return text.split(',').filter((part) => part !== '');
}
