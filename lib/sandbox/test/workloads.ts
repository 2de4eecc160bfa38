import { afterEach, beforeEach } from '@jest/globals';
import {
  type DaemonSet,
  type Deployment,
  type Pod,
  pods,
  type Resource,
  type StatefulSet,
} from '../../kube/model/resource.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { startSandbox, type Sandbox } from '../sandbox.ts';
import { eventually, turnedClock, type TurnedClock } from './turned-clock.ts';

export type KindRef<T extends KubeObject = KubeObject> = Pick<Resource<T>, 'group' | 'plural' | 'object'>;

export const namespace = 'default';
/** How long a pod takes to be ready unless it says otherwise. */
export const readyMs = 1000;
/** Of a pod that never is. */
export const never = { 'sandbox.kube-reflex.dev/ready': 'never' };

interface Workloads {
  readonly api: () => Sandbox['api'];
  readonly turn: (ms: number) => void;
  readonly list: <T extends KubeObject>(kind: KindRef<T>) => readonly T[];
  readonly get: <T extends KubeObject>(kind: KindRef<T>, name: string) => T;
  readonly names: (kind: KindRef) => string[];
  readonly running: () => number;
  readonly isReady: (name: string) => boolean;
}

/** A sandbox of its own for every test of the file, whose time the test turns. */
export function useWorkloads(): Workloads {
  let clock: TurnedClock;
  let sandbox: Sandbox;

  beforeEach(async () => {
    clock = turnedClock();
    sandbox = await startSandbox({ clock, podReadyMs: readyMs });
    await eventually(
      () => sandbox.api.get({ group: '', plural: 'serviceaccounts' }, 'default', namespace),
      'furnished',
    );
  });
  afterEach(() => sandbox.close());

  function list<T extends KubeObject>(kind: KindRef<T>): readonly T[] {
    return sandbox.api.list(kind) as readonly T[];
  }

  function get<T extends KubeObject>(kind: KindRef<T>, name: string): T {
    const found = sandbox.api.get(kind, name, namespace);
    if (found === undefined) {
      throw new Error(`there is no ${kind.plural} "${name}"`);
    }
    return found as T;
  }

  return {
    ...{ list, get },
    api: () => sandbox.api,
    turn: (ms) => clock.turn(ms),
    names: (kind) => sandbox.api.list(kind).map(({ metadata }) => metadata?.name ?? ''),
    running: () => list(pods).filter(({ status }) => status?.phase === 'Running').length,
    isReady: (name) => isPodReady(get(pods, name)),
  };
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
}

export function template(app: string): NonNullable<DaemonSet['spec']>['template'] {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
}

export function withTemplateAnnotations<T extends Deployment | DaemonSet | StatefulSet>(
  workload: T,
  annotations: Record<string, string> | undefined,
): T {
  const { metadata: { annotations: _before, ...metadata } = {}, ...rest } = workload.spec?.template ?? {};
  const next = { ...rest, metadata: { ...metadata, ...(annotations && { annotations }) } };
  return { ...workload, spec: { ...workload.spec, template: next } };
}
