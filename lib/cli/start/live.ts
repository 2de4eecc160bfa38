import { readableLine } from '../../base/log.ts';

interface Handled {
  readonly level?: string;
  readonly msg?: string;
  readonly time: string;
  readonly function?: string;
  readonly change?: string;
  readonly type?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly steps?: readonly string[];
  readonly calls?: number;
  readonly ms?: number;
  /** What admission did to an object on its way. */
  readonly did?: string;
}

const pastTense: Readonly<Record<string, string>> = {
  add: 'added',
  create: 'created',
  update: 'changed',
  delete: 'deleted',
};

/** Log records that only repeat what the introduction or the line of their event says. */
const repeated = new Set(['step', 'listening', 'draining', 'watching']);

/**
 * One log record as a line for somebody who watches: what changed → which function → what it wrote, and what that cost.
 * `undefined` where the record has nothing to add. What a function did to an object on its way is worth a line here,
 * though at the rate of a cluster it is a detail; other details only appear when they were asked for.
 */
export function liveLine(json: string, { details = true } = {}): string | undefined {
  const record = JSON.parse(json) as Handled;
  if (record.msg === 'admitted') {
    return admittedLine(record);
  }
  if (!details && isDetail(record)) {
    return undefined;
  }
  if (record.msg === 'handled') {
    return handledLine(record);
  }
  return repeated.has(record.msg ?? '') ? undefined : readableLine(json);
}

/** With several functions most of them care for little of what happens. */
function isDetail(record: Handled): boolean {
  const cared = record.msg !== 'handled' || record.change === undefined || wroteSomething(record);
  return record.level === 'debug' || !cared;
}

function admittedLine(record: Handled): string {
  const { time, function: name = '', did = '' } = record;
  return `${time.slice(11, 19)}  ${whatChanged({ ...record, change: 'create' })} → ${name} → ${did}\n`;
}

function handledLine(record: Handled): string {
  const { time, function: name = '', steps = [], calls = 0, ms = 0 } = record;
  const wrote = wroteSomething(record) ? [...new Set(steps)].join(', ') : 'nothing to do';
  return `${time.slice(11, 19)}  ${whatChanged(record)} → ${name} → ${wrote}  (${ms} ms, ${calls} API calls)\n`;
}

function wroteSomething({ steps = [] }: Handled): boolean {
  return steps.length > 0;
}

function whatChanged({ change, type = '', kind = '', namespace, name = '' }: Handled): string {
  if (change === undefined) {
    return type.endsWith('.ping') ? 'tick' : type;
  }
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} ${pastTense[change] ?? change}`;
}
