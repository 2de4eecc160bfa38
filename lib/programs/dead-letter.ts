import { Counter, type Registry } from 'prom-client';

/** What is worth knowing of an event that nobody could handle. Its data is not: it may hold anything. */
export interface DeadLetter {
  readonly event: string;
  readonly type: string;
  readonly source: string;
  readonly object?: string;
  /** Who refused it, with which status, and in which words. */
  readonly sentTo?: string;
  readonly code?: number;
  readonly said?: string;
}

/** By status alone: what else an event says is up to whoever sent it. */
export function countDeadLetters(registry: Registry): Counter<'code'> {
  const letters = new Counter({
    name: 'kube_reflex_dead_letters_total',
    help: 'Events that nobody could handle, by the status that they were refused with.',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of usualCodes) {
    letters.inc({ code }, 0);
  }
  return letters;
}

/** These count from 0, or Prometheus would see no increase in the first letter of each. */
const usualCodes = ['400', '404', '413', '422', '429', '500', '502', '503', '504', 'none'];

/** Longer answers help nobody to read the log. */
const longestSaid = 300;

/** Reads what the Broker added to the event when it gave up. */
export function deadLetterOf(event: Readonly<Record<string, unknown>>): DeadLetter {
  const { id, type, source, kind, namespace, name, knativeerrordest, knativeerrorcode, knativeerrordata } = event;
  const object = [kind, namespace, name].filter(isText).join(' ');
  return {
    event: isText(id) ? id : 'none',
    type: isText(type) ? type : 'none',
    source: isText(source) ? source : 'none',
    ...(object === '' ? {} : { object }),
    ...(isText(knativeerrordest) ? { sentTo: knativeerrordest } : {}),
    ...(/^\d{3}$/.test(String(knativeerrorcode)) ? { code: Number(knativeerrorcode) } : {}),
    ...(isText(knativeerrordata) ? { said: decoded(knativeerrordata) } : {}),
  };
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString().trim().slice(0, longestSaid);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
