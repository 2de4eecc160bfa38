import type { CloudEvent } from 'cloudevents';
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
  return new Counter({
    name: 'kube_reflex_dead_letters_total',
    help: 'Events that nobody could handle, by the status that they were refused with.',
    labelNames: ['code'],
    registers: [registry],
  });
}

/** Longer answers help nobody to read the log. */
const longestSaid = 300;

/** Reads what the Broker added to the event when it gave up. */
export function deadLetterOf(event: CloudEvent<unknown>): DeadLetter {
  const { id, type, source, kind, namespace, name, knativeerrordest, knativeerrorcode, knativeerrordata } = event;
  const object = [kind, namespace, name].filter(isText).join(' ');
  return {
    event: id,
    type,
    source,
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
