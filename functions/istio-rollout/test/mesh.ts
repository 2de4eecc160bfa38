import { injectorConfigMap, revisionWebhooks } from '../sandbox/istio.ts';
import {
  configMaps,
  daemonSets,
  deployments,
  mutatingWebhooks,
  namespaces,
  pods,
  statefulSets,
  type ConfigMap,
  type MutatingWebhookConfiguration,
  type Namespace,
  type Pod,
} from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { KindRef } from '../../../lib/sandbox/model/internal.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { startInjector, type Injector } from './injector/injector.ts';
import { oldImage, patchedTo, stampOf, until, workloadOf, type Shape } from './objects.ts';

const kinds = { Deployment: deployments, StatefulSet: statefulSets, DaemonSet: daemonSets };

interface Ground {
  readonly sandbox: Sandbox;
  readonly injector: Injector;
  readonly clock: { now: number };
}

/** A sandbox with a mesh of one revision, and a clock that the test turns. */
export class Mesh {
  readonly sandbox: Sandbox;
  readonly injector: Injector;
  /** Every restart that was seen from outside: `kind namespace/name`, in order. */
  readonly restarts: string[] = [];
  readonly #clock: { now: number };
  readonly #injectors: Injector[] = [];

  protected constructor({ sandbox, injector, clock }: Ground) {
    this.sandbox = sandbox;
    this.injector = injector;
    this.#clock = clock;
    for (const [kind, ref] of Object.entries(kinds)) {
      sandbox.api.subscribe(ref, ({ object, old }) => {
        const [before, after] = [stampOf(old), stampOf(object)];
        if (old !== undefined && after !== undefined && before !== after) {
          this.restarts.push(`${kind} ${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`);
        }
      });
    }
  }

  /** What it stands on. */
  protected static async prepare(): Promise<Ground> {
    const clock = { now: Date.parse('2026-03-02T10:00:00Z') };
    const injector = await startInjector({ image: oldImage });
    const sandbox = await startSandbox({
      podReadyMs: 0,
      clock: {
        now: () => new Date(clock.now),
        after: (ms, work) => {
          const timer = setTimeout(work, ms);
          timer.unref();
          return () => clearTimeout(timer);
        },
      },
    });
    return { sandbox, injector, clock };
  }

  /** Pods that are created from now on get the old proxy. */
  protected async fill(): Promise<void> {
    await this.create(namespaces, { metadata: { name: 'istio-system' } });
    await this.create(namespaces, { metadata: { name: 'kube-reflex' } });
    await this.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.28.4' }));
    await this.create(mutatingWebhooks, revisionWebhooks('default', this.injector.clientConfig));
    await this.namespace('shop', { 'istio-injection': 'enabled' });
  }

  now(): Date {
    return new Date(this.#clock.now);
  }

  turn(seconds: number): void {
    this.#clock.now += seconds * 1000;
  }

  /** Another injector, as a second revision has it. */
  async addInjector(image: string, revision: string): Promise<Injector> {
    const injector = await startInjector({ image, revision });
    this.#injectors.push(injector);
    return injector;
  }

  /** Gives the namespaces with a label of somebody's own to another injector. */
  async split(
    { label, value }: { readonly label: string; readonly value: string },
    clientConfig: Injector['clientConfig'],
  ): Promise<void> {
    await this.change<MutatingWebhookConfiguration>(mutatingWebhooks, ['istio-sidecar-injector'], (object) => ({
      ...object,
      webhooks: (object.webhooks ?? []).flatMap((each) => {
        const { matchExpressions = [], ...rest } = each.namespaceSelector ?? {};
        const [others, own] = ['NotIn', 'In'].map((operator) => ({
          ...rest,
          matchExpressions: [...matchExpressions, { key: label, operator, values: [value] }],
        }));
        return [
          { ...each, ...(others && { namespaceSelector: others }) },
          { ...each, name: `${value}.${each.name}`, ...(own && { namespaceSelector: own }), clientConfig },
        ];
      }),
    }));
  }

  create<T extends KubeObject>(ref: KindRef & { readonly object?: T }, object: T): Promise<KubeObject> {
    return this.sandbox.api.create(ref, object);
  }

  get<T extends KubeObject>(ref: KindRef & { readonly object?: T }, name: string, namespace?: string): T | undefined {
    return this.sandbox.api.get(ref, name, namespace) as T | undefined;
  }

  async change<T extends KubeObject>(
    ref: KindRef & { readonly object?: T },
    place: readonly [name: string, namespace?: string],
    change: (object: T) => T,
  ): Promise<void> {
    const object = this.get(ref, ...place);
    if (object === undefined) {
      throw new Error(`there is no ${ref.plural} ${place.join(' ')}`);
    }
    await this.sandbox.api.update(ref, change(structuredClone(object)));
  }

  async namespace(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.create<Namespace>(namespaces, {
      metadata: { name, labels: { ...labels }, annotations: { ...annotations } },
    });
    const accounts = { group: '', plural: 'serviceaccounts' };
    await until(`${name} has an account`, () => this.sandbox.api.get(accounts, 'default', name) !== undefined);
  }

  /** A workload whose pods are up. */
  async workload(ref: KindRef, name: string, shape: Shape = {}): Promise<void> {
    const { namespace = 'shop', replicas = 1 } = shape;
    await this.create(ref, workloadOf(name, shape, ref.plural === 'daemonsets'));
    const wanted = ref.plural === 'daemonsets' ? 3 : replicas;
    await until(
      `${name} is up`,
      () => this.podsOf(name, namespace).length === wanted && this.isSettled(ref, name, namespace),
    );
  }

  deployment(name: string, shape: Shape = {}): Promise<void> {
    return this.workload(deployments, name, shape);
  }

  isSettled(ref: KindRef, name: string, namespace = 'shop'): boolean {
    const { metadata, status = {} } = this.sandbox.api.get(ref, name, namespace) as KubeObject & {
      status?: Readonly<Record<string, unknown>>;
    };
    const [count, updated, available] = [
      ['replicas', 'desiredNumberScheduled'],
      ['updatedReplicas', 'updatedNumberScheduled'],
      ['availableReplicas', 'numberAvailable'],
    ].map((fields) => fields.map((field) => status[field]).find((value) => value !== undefined) ?? 0);
    return status['observedGeneration'] === metadata?.generation && updated === count && available === count;
  }

  podsOf(app: string, namespace = 'shop'): readonly Pod[] {
    const all = this.sandbox.api.list(pods, { namespace, labelSelector: { matchLabels: { app } } }) as readonly Pod[];
    return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  }

  imagesOf(app: string, namespace = 'shop'): readonly (string | undefined)[] {
    const proxies = this.podsOf(app, namespace).map(({ spec }) =>
      [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find(({ name }) => name === 'istio-proxy'),
    );
    return [...new Set(proxies.map((proxy) => proxy?.image))];
  }

  /** From now on new pods of these apps get their proxy and never become ready. */
  breakPods(image: string, ...apps: readonly string[]): void {
    this.injector.behave({
      answer: ({ object, dryRun }) => {
        const pod: Pod = object ?? {};
        const { labels = {}, annotations } = pod.metadata ?? {};
        if (dryRun === true || !apps.includes(labels['app'] ?? '')) {
          return undefined;
        }
        const broken = { ...pod.metadata, annotations: { ...annotations, 'sandbox.kube-reflex.dev/ready': 'never' } };
        return patchedTo({ ...pod, metadata: broken }, image);
      },
    });
  }

  async removePods(app: string, namespace = 'shop'): Promise<void> {
    for (const { metadata } of this.podsOf(app, namespace)) {
      await this.sandbox.api.remove(pods, { name: metadata?.name ?? '', namespace });
    }
  }

  async publish(tag: string): Promise<void> {
    const { data = {} } = injectorConfigMap({ revision: 'default', tag });
    await this.change<ConfigMap>(configMaps, ['istio-sidecar-injector', 'istio-system'], (object) => ({
      ...object,
      data,
    }));
  }

  async settle(): Promise<void> {
    await until('all rollouts are over', () =>
      [deployments, statefulSets, daemonSets].every((ref) =>
        this.sandbox.api
          .list(ref)
          .every(({ metadata }) => this.isSettled(ref, metadata?.name ?? '', metadata?.namespace)),
      ),
    );
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await Promise.all([this.injector, ...this.#injectors].map((injector) => injector.close()));
  }
}
