import type { Action, FreezeExceptionSpec, PolicyKind, TargetKind } from '../../policy.ts';
import type { ChangeFreezeSpec, MaintenanceWindowSpec } from '../../policy.ts';
import type { Call, Method } from '../../../../lib/sandbox/test/contract/client.ts';
import { cronJob, exception, freeze, nightly } from '../objects.ts';
import type { Person } from './freeze-site.ts';
import type { AnyManifest } from '../../../../test/support/manifests.ts';

export const noon = '2026-12-25T12:00:00Z';
export const christmas = ['2026-12-24T00:00:00Z', '2026-12-27T00:00:00Z'] as const;
export const everything: readonly Action[] = ['CREATE', 'DELETE', 'ROLL_OUT', 'SCALE'];

/** What somebody asks of the API server. */
export interface Request {
  readonly method: Method;
  readonly path: string;
  readonly call?: Call;
  /** Absent: a developer. */
  readonly by?: Person;
}

export const workloads = ['deployments', 'statefulsets', 'daemonsets', 'cronjobs'] as const;
type Plural = (typeof workloads)[number];

export function pathTo(plural: Plural, name = '', namespace = 'prod'): string {
  const group = plural === 'cronjobs' ? 'batch' : 'apps';
  return `/apis/${group}/v1/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;
}

/** A workload of any kind. The one that is called `web` is there before each case. */
export function workload(plural: Plural, name = 'web'): object {
  const metadata = { name };
  if (plural === 'cronjobs') {
    return { metadata, spec: cronJob(name).spec };
  }
  const pods = { run: name };
  const resources = { requests: { cpu: '500m' } };
  const containers = [{ name: 'main', image: 'web:1', resources }];
  const more = { deployments: { replicas: 1 }, statefulsets: { replicas: 1, serviceName: name }, daemonsets: {} };
  const template = { metadata: { labels: pods }, spec: { containers } };
  return { metadata, spec: { ...more[plural], selector: { matchLabels: pods }, template } };
}

export function creation(plural: Plural = 'deployments', namespace = 'prod'): Request {
  return { method: 'POST', path: pathTo(plural, '', namespace), call: { body: workload(plural, 'new') } };
}

export function deletion(plural: Plural = 'deployments'): Request {
  return { method: 'DELETE', path: pathTo(plural, 'web') };
}

/** A merge patch. */
export function update(body: object, plural: Plural = 'deployments', by?: Person): Request {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const call = { body, headers };
  return { method: 'PATCH', path: pathTo(plural, 'web'), call, ...(by === undefined ? {} : { by }) };
}

/** Another image, and what else is given. */
export function rollout(more: { readonly spec?: object; readonly metadata?: object } = {}, by?: Person): Request {
  images += 1;
  const containers = [{ name: 'main', image: `web:1.${images}` }];
  return update({ ...more, spec: { ...more.spec, template: { spec: { containers } } } }, 'deployments', by);
}
let images = 0;

/** By the subresource, as `kubectl scale` does. */
export function scale(plural: 'deployments' | 'statefulsets' = 'deployments', by?: Person): Request {
  const { path, ...request } = update({ spec: { replicas: 5 } }, plural, by);
  return { ...request, path: `${path}/scale` };
}

/** As Knative's autoscaler does. */
export function jsonScale(by: Person): Request {
  const headers = { 'content-type': 'application/json-patch+json' };
  const body = [{ op: 'replace', path: '/spec/replicas', value: 5 }];
  return { method: 'PATCH', path: `${pathTo('deployments', 'web')}/scale`, call: { body, headers }, by };
}

const inProd = { namespaceSelector: { matchLabels: { env: 'prod' } } };

/** Of Deployments in `env=prod`, over Christmas. */
export function freezeOf(deny: readonly Action[], spec: Partial<ChangeFreezeSpec> = {}, name = 'holiday'): AnyManifest {
  const target = { kinds: ['Deployment'] as const, ...inProd };
  return policy('ChangeFreeze', freeze(name, christmas, { target, rules: { deny }, ...spec }));
}

export function freezeUntil(endTime: string, name: string): AnyManifest {
  return freezeOf(everything, { endTime }, name);
}

/** Denies everything to Deployments in `env=prod` outside these windows. */
export function windowsOf(
  windows: readonly Omit<MaintenanceWindowSpec['windows'][number], 'name'>[],
  timezone = 'UTC',
  name = 'windows',
): AnyManifest {
  const named = windows.map((window, index) => ({ name: `w${index}`, ...window }));
  const target = { kinds: ['Deployment'] as const, ...inProd };
  return policy('MaintenanceWindow', nightly(name, { timezone, windows: named, target, rules: { deny: everything } }));
}

/** Of rollouts of Deployments, over Christmas. */
export function exceptionOf(spec: Partial<FreezeExceptionSpec> = {}, name = 'hotfix'): AnyManifest {
  const made = exception(name, christmas);
  return policy('FreezeException', { ...made, spec: { ...made.spec, ...spec } });
}

function policy(kind: PolicyKind, object: { readonly metadata?: object; readonly spec: object }): AnyManifest {
  return { apiVersion: 'freeze-operator.io/v1alpha1', kind, ...object } as unknown as AnyManifest;
}

export function targetOf(kind: TargetKind, selectors: object = inProd): ChangeFreezeSpec['target'] {
  return { kinds: [kind], ...selectors };
}
