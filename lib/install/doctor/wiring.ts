import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/model/wire.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import type { Found } from '../../runtime/doctor/finding.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Live extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly webhooks?: readonly Readonly<Record<string, unknown>>[];
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The condition by which a kind says that it works. Kinds without one are there or not. */
const workingCondition: Readonly<Record<string, string>> = {
  ApiServerSource: 'Ready',
  PingSource: 'Ready',
  Trigger: 'Ready',
  Service: 'Ready',
  Deployment: 'Available',
};

/** What must be as the definition asks, or events don't arrive. Operators may change everything else. */
const compared: Readonly<Record<string, readonly string[]>> = {
  ApiServerSource: ['mode', 'resources', 'namespaceSelector', 'ceOverrides'],
  PingSource: ['schedule', 'ceOverrides'],
  Trigger: ['broker', 'filters', 'subscriber'],
};

/** Whether one object of an installation is there, is as the definition asks, and works. */
export function examineObject(wanted: Manifest, live: KubeObject | undefined): Found[] {
  const check = `${wanted.kind} ${wanted.metadata.name}`;
  if (live === undefined) {
    return [{ check, state: 'error', message: 'it is not there', fix: 'apply the manifests of the function again' }];
  }
  const problems = [...departures(wanted, live), ...undelivered(wanted, live), ...notWorking(wanted, live)];
  return problems.length === 0
    ? [{ check, state: 'ok', message: 'as it should be' }]
    : problems.map((each) => ({ check, ...each }));
}

type Problem = Omit<Found, 'check'>;

function departures({ kind, spec }: Manifest, live: Live): Problem[] {
  return (compared[kind] ?? [])
    .filter((field) => !suffices(field, (spec as Live['spec'])?.[field], live.spec?.[field]))
    .map((field) => ({
      state: 'error',
      message: `spec.${field} is not what the function needs`,
      fix: `compare it with the generated manifest; expected ${JSON.stringify((spec as Live['spec'])?.[field])}`,
    }));
}

/** A source may watch more than one function needs. */
function suffices(field: string, wanted: unknown, live: unknown): boolean {
  return field === 'resources' && Array.isArray(wanted) && Array.isArray(live)
    ? wanted.every((item) => live.some((each) => holds(item, each) && holds(each, item)))
    : holds(wanted, live);
}

/** A Trigger's own delivery replaces the Broker's as a whole, so one without dead letters has none. */
function undelivered({ kind }: Manifest, { spec }: Live): Problem[] {
  if (kind !== 'Trigger') {
    return [];
  }
  const delivery = (spec?.['delivery'] ?? {}) as Readonly<Record<string, unknown>>;
  const absent = ['retry', 'backoffDelay', 'deadLetterSink'].filter((field) => delivery[field] === undefined);
  return absent.length === 0
    ? []
    : [
        {
          state: 'warning',
          message: `spec.delivery lacks ${absent.join(', ')}`,
          fix: 'without them an event that fails once is lost until the next tick',
        },
      ];
}

function notWorking({ kind, apiVersion }: Manifest, { status }: Live): Problem[] {
  const type = apiVersion === 'v1' ? undefined : workingCondition[kind];
  const condition = status?.conditions?.find((candidate) => candidate.type === type);
  return type === undefined || condition?.status === 'True'
    ? []
    : [{ state: 'error', message: `it is not ${type}: ${whyNot(condition)}`, fix: 'kubectl describe shows more' }];
}

function whyNot({ reason = 'unknown', message = 'no controller has said so yet' }: Partial<Condition> = {}): string {
  return `${reason}, ${message}`;
}

/** Whether everything asked for is in what is there; the API server may have added defaults. */
export function holds(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) && wanted.length === live.length && wanted.every((item, index) => holds(item, live[index]))
    );
  }
  if (typeof wanted === 'object' && wanted !== null) {
    return (
      typeof live === 'object' &&
      live !== null &&
      Object.entries(wanted).every(([key, value]) => holds(value, (live as Readonly<Record<string, unknown>>)[key]))
    );
  }
  return isDeepStrictEqual(wanted, live);
}
