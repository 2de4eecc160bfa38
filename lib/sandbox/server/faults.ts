import { ApiError } from '../model/status.ts';

/** What a rule looks at: the request as the pipeline knows it. Watches have the verb `watch`. */
export interface FaultSubject {
  readonly verb: string;
  /** Plural name, with the subresource behind a slash: `pods`, `pods/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user: string;
}

export type FaultEffect =
  | { readonly do: 'delay'; readonly ms: number }
  | {
      readonly do: 'refuse';
      readonly status: 403 | 409 | 429 | 500 | 503;
      /** Sent as `Retry-After`, in seconds. */
      readonly retryAfter?: number;
      readonly message?: string;
    }
  /** The request is never answered. */
  | { readonly do: 'hang' }
  /** The connection ends without an answer, before the work is done or after it. */
  | { readonly do: 'cut'; readonly when: 'before' | 'after' };

/** A fault for every request that fits all given fields. */
export interface FaultRule extends Partial<FaultSubject> {
  /** How often it strikes; without it, until it is removed. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

export interface FiredFault extends FaultSubject {
  readonly effect: FaultEffect;
}

/** What to do to one request: wait, then at most one outcome. */
export interface Verdict {
  readonly delayMs: number;
  readonly outcome?: Exclude<FaultEffect, { do: 'delay' }>;
}

export interface Faults {
  /** The answer removes the rule. */
  add(rule: FaultRule): () => void;
  clear(): void;
  /** Ends open watches that fit, as a restart of the API server does; the answer is how many. */
  dropWatches(which?: Partial<FaultSubject>): number;
  /** Every fault that struck, oldest first. */
  readonly fired: readonly FiredFault[];
}

/** The side that the pipeline asks. */
export interface FaultSwitch extends Faults {
  /** Counts as a strike of every rule that takes part in the verdict. */
  judge(subject: FaultSubject): Verdict;
  /** Announces an open watch, so that it can be dropped. The answer is to be called when it ends by itself. */
  watching(subject: FaultSubject, end: () => void): () => void;
}

interface ArmedRule {
  readonly rule: FaultRule;
  left: number;
}

const none: Verdict = { delayMs: 0 };

export function createFaults(): FaultSwitch {
  const rules = new Set<ArmedRule>();
  const watches = new Map<() => void, FaultSubject>();
  const fired: FiredFault[] = [];

  function strike(armed: ArmedRule, subject: FaultSubject): void {
    armed.left -= 1;
    if (armed.left <= 0) {
      rules.delete(armed);
    }
    fired.push({ ...subject, effect: armed.rule.effect });
  }

  return {
    fired,
    add(rule) {
      const armed: ArmedRule = { rule, left: rule.times ?? Infinity };
      rules.add(armed);
      return () => rules.delete(armed);
    },
    clear: () => rules.clear(),
    dropWatches(which = {}) {
      const open = [...watches].filter(([, subject]) => fits(which, subject));
      for (const [end] of open) {
        watches.delete(end);
        end();
      }
      return open.length;
    },
    judge(subject) {
      let verdict = none;
      for (const armed of rules) {
        if (verdict.outcome === undefined && fits(armed.rule, subject)) {
          strike(armed, subject);
          verdict = join(verdict, armed.rule.effect);
        }
      }
      return verdict;
    },
    watching(subject, end) {
      watches.set(end, subject);
      return () => watches.delete(end);
    },
  };
}

/** The body of a refusal by a fault, as the API server words the same trouble. */
export function faultError({ status, retryAfter, message }: Extract<FaultEffect, { do: 'refuse' }>): ApiError {
  const known = refusals[status];
  return new ApiError(status, {
    reason: known.reason,
    message: message ?? known.message,
    ...(retryAfter === undefined ? {} : { retryAfter, details: { retryAfterSeconds: retryAfter } }),
  });
}

const refusals = {
  403: { reason: 'Forbidden', message: 'forbidden: the user cannot use resource in API group at this scope' },
  409: {
    reason: 'Conflict',
    message: 'the object has been modified; please apply your changes to the latest version and try again',
  },
  429: { reason: 'TooManyRequests', message: 'Too many requests, please try again later.' },
  500: { reason: 'InternalError', message: 'Internal error occurred: fault injected' },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
} as const;

function fits(wanted: Partial<FaultSubject>, subject: FaultSubject): boolean {
  const fields = ['verb', 'resource', 'namespace', 'name', 'user'] as const;
  return fields.every((field) => wanted[field] === undefined || wanted[field] === subject[field]);
}

function join(verdict: Verdict, effect: FaultEffect): Verdict {
  return effect.do === 'delay' ? { ...verdict, delayMs: verdict.delayMs + effect.ms } : { ...verdict, outcome: effect };
}
