import { readableLine } from '../log.ts';

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
    const { time, function: name = '', did = '' } = record;
    return `${time.slice(11, 19)}  ${whatChanged({ ...record, change: 'create' })} → ${name} → ${did}\n`;
  }
  if (record.level === 'debug' && !details) {
    return undefined;
  }
  if (record.msg !== 'handled') {
    return repeated.has(record.msg ?? '') ? undefined : readableLine(json);
  }
  const { time, function: name = '', steps = [], calls = 0, ms = 0 } = record;
  const wrote = steps.length === 0 ? 'nothing to do' : [...new Set(steps)].join(', ');
  return `${time.slice(11, 19)}  ${whatChanged(record)} → ${name} → ${wrote}  (${ms} ms, ${calls} API calls)\n`;
}

function whatChanged({ change, type = '', kind = '', namespace, name = '' }: Handled): string {
  if (change === undefined) {
    return type.endsWith('.ping') ? 'tick' : type;
  }
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} ${pastTense[change] ?? change}`;
}
