import { Counter, type Registry } from 'prom-client';

/** The logged fields of an event that no function could handle. Its data is left out, because it may hold anything. */
export interface DeadLetter {
  readonly event: string;
  readonly type: string;
  readonly source: string;
  readonly object?: string;
  /** The receiver that refused it, the status and the text of the answer. */
  readonly sentTo?: string;
  readonly code?: number;
  readonly said?: string;
}

/** Labelled by status only, because a sender controls all other attributes. */
export function countDeadLetters(registry: Registry): Counter<'code'> {
  const letters = new Counter({
    name: 'kube_reflex_dead_letters_total',
    help: 'Events that no function could handle, by the status of the refusal.',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of usualCodes) {
    letters.inc({ code }, 0);
  }
  return letters;
}

/** These series start at 0; otherwise Prometheus would not see the first increase of each. */
const usualCodes = ['400', '404', '413', '422', '429', '500', '502', '503', '504', 'none'];

/** Longer answers are cut in the log. */
const longestSaid = 300;

/** Reads the attributes that the Broker added when it gave up. */
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
