import { pino } from 'pino';
import istioRollout from '../../functions/istio-rollout/index.ts';
import { injectorConfigMap, revisionWebhooks } from '../../functions/istio-rollout/sandbox/istio.ts';
import { emptyState, type State } from '../../functions/istio-rollout/state/state.ts';
import type { Status } from '../../functions/istio-rollout/render.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import type { Call } from '../../lib/kube/client.ts';
import {
  configMaps,
  daemonSets,
  deployments,
  events,
  mutatingWebhooks,
  namespaces,
  pods,
  statefulSets,
  type ConfigMap,
  type Namespace,
  type Pod,
} from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { serve, type Running } from '../../lib/main.ts';
import type { KindRef } from '../../lib/sandbox/internal.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send } from '../http.ts';
import { startInjector, type Injector } from '../injector/injector.ts';
import { newImage, oldImage, patchedTo, stampOf, until, workloadOf, type Shape } from './objects.ts';

/** A sandbox with a mesh of one revision, an instance of the function, and a clock that the test turns. */
export class World {
  readonly sandbox: Sandbox;
  readonly injector: Injector;
  readonly calls: Call[] = [];
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  /** Every restart that was seen from outside: `kind namespace/name`, in order. */
  readonly restarts: string[] = [];
  readonly #clock: { now: number };
  readonly #settings: Readonly<Record<string, string>>;
  readonly #apps: Running[] = [];
  readonly #injectors: Injector[] = [];

  private constructor(
    sandbox: Sandbox,
    injector: Injector,
    clock: { now: number },
    settings: Readonly<Record<string, string>>,
  ) {
    this.sandbox = sandbox;
    this.injector = injector;
    this.#clock = clock;
    this.#settings = settings;
    for (const [kind, ref] of Object.entries({
      Deployment: deployments,
      StatefulSet: statefulSets,
      DaemonSet: daemonSets,
    })) {
      sandbox.api.subscribe(ref, ({ object, old }) => {
        const [before, after] = [stampOf(old), stampOf(object)];
        if (old !== undefined && after !== undefined && before !== after) {
          this.restarts.push(`${kind} ${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`);
        }
      });
    }
  }

  /** Pods that are created now get the old proxy. */
  static async open(
    settings: Readonly<Record<string, string>> = {},
    options: { readonly podReadyMs?: number } = {},
  ): Promise<World> {
    const clock = { now: Date.parse('2026-03-02T10:00:00Z') };
    const injector = await startInjector({ image: oldImage });
    const sandbox = await startSandbox({
      podReadyMs: options.podReadyMs ?? 0,
      clock: {
        now: () => new Date(clock.now),
        after: (ms, work) => {
          const timer = setTimeout(work, ms);
          timer.unref();
          return () => clearTimeout(timer);
        },
      },
    });
    const world = new World(sandbox, injector, clock, settings);
    await world.create(namespaces, { metadata: { name: 'istio-system' } });
    await world.create(namespaces, { metadata: { name: 'kube-reflex' } });
    await world.create(configMaps, injectorConfigMap({ revision: 'default', tag: '1.28.4' }));
    await world.create(mutatingWebhooks, revisionWebhooks('default', injector.clientConfig));
    await world.namespace('shop', { 'istio-injection': 'enabled' });
    return world;
  }

  /** The same with Deployments, scanned once, whose proxies a new version of the control plane has just outdated. */
  static async openOutdated(
    settings: Readonly<Record<string, string>> = {},
    workloads: Readonly<Record<string, Shape>> = { web: {} },
  ): Promise<World> {
    const world = await World.open(settings);
    for (const [name, shape] of Object.entries(workloads)) {
      await world.deployment(name, shape);
    }
    await world.tick();
    await world.upgrade();
    return world;
  }

  turn(seconds: number): void {
    this.#clock.now += seconds * 1000;
  }

  async start(settings: Readonly<Record<string, string>> = {}): Promise<Running> {
    const app = await serve({
      definitions: [istioRollout],
      environment: { PORT: '0', POD_NAMESPACE: 'kube-reflex', ...this.#settings, ...settings },
      access: kubeconfigAccess(JSON.stringify(this.sandbox.kubeconfig)),
      host: '127.0.0.1',
      log: pino({ level: 'debug' }, { write: (line) => this.logged.push(JSON.parse(line) as Record<string, unknown>) }),
      now: () => new Date(this.#clock.now),
      observe: (call) => this.calls.push(call),
    });
    this.#apps.push(app);
    return app;
  }

  async app(): Promise<Running> {
    return this.#apps.at(-1) ?? this.start();
  }

  /** Another injector, as a second revision has it. */
  async addInjector(image: string, revision: string): Promise<Injector> {
    const injector = await startInjector({ image, revision });
    this.#injectors.push(injector);
    return injector;
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

  /** Does something at the moment when the intent to restart has become durable. */
  onIntent(work: () => void): void {
    const stop = this.sandbox.api.subscribe(configMaps, ({ object }) => {
      const { metadata, data } = object as ConfigMap;
      if (metadata?.name === 'istio-rollout-state' && data?.['inflight']?.includes('"Intent"') === true) {
        stop();
        work();
      }
    });
  }

  async removePods(app: string, namespace = 'shop'): Promise<void> {
    for (const { metadata } of this.podsOf(app, namespace)) {
      await this.sandbox.api.remove(pods, { name: metadata?.name ?? '', namespace });
    }
  }

  /** A new version of the control plane: what it injects, its ConfigMap, and the event about that. */
  async upgrade(image = newImage): Promise<void> {
    this.turn(3600);
    this.injector.behave({ image });
    await this.publish(image.split(':')[1] ?? '');
    await this.configMapEvent();
  }

  async publish(tag: string): Promise<void> {
    const { data = {} } = injectorConfigMap({ revision: 'default', tag });
    await this.change<ConfigMap>(configMaps, ['istio-sidecar-injector', 'istio-system'], (object) => ({
      ...object,
      data,
    }));
  }

  configMapEvent(name = 'istio-sidecar-injector'): Promise<void> {
    return this.event({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'istio-system', name });
  }

  webhookEvent(name: string): Promise<void> {
    return this.event({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      namespace: '',
      name,
    });
  }

  namespaceEvent(name: string): Promise<void> {
    return this.event({ apiVersion: 'v1', kind: 'Namespace', namespace: '', name });
  }

  async event(about: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  }): Promise<void> {
    const { status } = await send(
      (await this.app()).url,
      binaryEvent({ type: 'dev.knative.apiserver.ref.update', ...about }),
    );
    if (status !== 204) {
      throw new Error(`the event was answered ${status}`);
    }
  }

  async tick(app?: Running): Promise<number> {
    const { status } = await send((app ?? (await this.app())).url, binaryEvent({ type: 'dev.knative.sources.ping' }));
    return status;
  }

  /** Ticks after the delay that istiod is given to read its configuration. */
  async tickLater(seconds = 60): Promise<void> {
    this.turn(seconds);
    await this.tick();
  }

  /** Ticks, a minute apart and each after all rollouts, until nothing is queued or in flight any more. */
  async drive(most = 30): Promise<void> {
    for (let count = 0; count < most; count += 1) {
      await this.tickLater();
      const { inflight, queue } = this.state();
      if (inflight.length === 0 && queue.items.length === 0) {
        return;
      }
      await this.settle();
    }
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

  state(): State {
    const { data = {} } = this.get<ConfigMap>(configMaps, 'istio-rollout-state', 'kube-reflex') ?? {};
    const entries = Object.entries(data).map(([key, text]) => [key, (JSON.parse(text) as { value: unknown }).value]);
    return { ...emptyState, ...(Object.fromEntries(entries) as Partial<State>) };
  }

  async status(): Promise<Status> {
    const { body } = await send((await this.app()).url, { method: 'GET', path: '/status' });
    return JSON.parse(body) as Status;
  }

  async row(name: string): Promise<Status['workloads'][number] | undefined> {
    return (await this.status()).workloads.find((row) => row.name === name);
  }

  eventsOf(reason: string): readonly string[] {
    const all = this.sandbox.api.list(events) as readonly (KubeObject & {
      reason?: string;
      regarding?: { name?: string };
    })[];
    return all.filter((event) => event.reason === reason).map(({ regarding }) => regarding?.name ?? '');
  }

  async metric(line: string): Promise<number | undefined> {
    const { body } = await send((await this.app()).url, { method: 'GET', path: '/metrics' });
    const found = body.split('\n').find((each) => each.startsWith(`kube_reflex_istio_rollout_${line} `));
    return found === undefined ? undefined : Number(found.split(' ').at(-1));
  }

  warnings(message: string): number {
    return this.logged.filter(({ level, msg }) => Number(level) >= 40 && msg === message).length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.close()));
    await this.sandbox.close();
    await Promise.all([this.injector, ...this.#injectors].map((injector) => injector.close()));
  }
}
