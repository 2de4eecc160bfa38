import type { KubeObject } from '../../kube/model/wire.ts';
import type { Kind } from '../model/kinds.ts';
import { badRequest } from '../model/status.ts';
import { at } from '../schema/value.ts';

interface Term {
  readonly path: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Conditions on fields; all must hold. */
export type FieldSelector = readonly Term[];

/** Selectable names that are not the path of the field they mean. */
const aliases: Readonly<Record<string, string>> = {
  'status.successful': 'status.succeeded',
  source: 'source.component',
  reportingController: 'reportingComponent',
  reportingComponent: 'reportingController',
};

/** What an absent field counts as, where that is not the empty string. */
const absent: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.replicas': '0',
  'status.successful': '0',
};

/** Reads `status.phase=Running,spec.nodeName!=a`; only fields that the kind offers may be named. */
export function parseFieldSelector(kind: Kind, text: string): FieldSelector {
  return splitUnescaped(text).map((part) => {
    const term = parseTerm(part);
    if (term === undefined) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    if (!isSelectable(kind, term.path)) {
      throw badRequest(unsupported(kind, term.path));
    }
    return term;
  });
}

export function matchesFields(selector: FieldSelector, object: KubeObject): boolean {
  return selector.every(({ path, isEqual, value }) => (fieldText(object, path) === value) === isEqual);
}

/** The one name that the selector leaves possible, if it does. */
export function selectedName(selector: FieldSelector): string | undefined {
  return selector.find(({ path, isEqual }) => path === 'metadata.name' && isEqual)?.value;
}

/** Kinds that select by more than name and namespace have another way to say it. */
function unsupported({ fieldSelectors }: Kind, path: string): string {
  const isPlain = fieldSelectors.every((each) => each.startsWith('metadata.'));
  return isPlain && fieldSelectors.includes('metadata.namespace')
    ? `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${path}`;
}

function isSelectable(kind: Kind, path: string): boolean {
  return path === 'metadata.name' || kind.fieldSelectors.includes(path);
}

function fieldText(object: KubeObject, path: string): string {
  const value = scalarText(object, path) ?? scalarText(object, alias(path));
  return value ?? absent[path] ?? '';
}

/** The same field under its other name: an event may be stored as either of two versions. */
function alias(path: string): string {
  const [first = '', ...rest] = path.split('.');
  const other = { involvedObject: 'regarding', regarding: 'involvedObject' }[first];
  return aliases[path] ?? [other ?? first, ...rest].join('.');
}

function scalarText(object: KubeObject, path: string): string | undefined {
  const value = at(object, ...path.split('.'));
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function splitUnescaped(text: string): readonly string[] {
  return text.split(/(?<!\\),/).filter((part) => part !== '');
}

function parseTerm(part: string): Term | undefined {
  const [, path, sign, value] = /^([^=!]*?)(!=|==|=)(.*)$/.exec(part) ?? [];
  if (path === undefined || value === undefined || /(?<!\\)=/.test(value)) {
    return undefined;
  }
  return { path, isEqual: sign !== '!=', value: value.replaceAll(/\\([\\,=])/g, '$1') };
}
