import { pino } from 'pino';
import istioRollout from '../index.ts';
import type { Status } from '../render.ts';
import { emptyState, type State } from '../state/state.ts';
import { kubeconfigAccess } from '../../../lib/kube/access.ts';
import type { Call } from '../../../lib/kube/client.ts';
import { configMaps, events, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { serve, type Running } from '../../../lib/runtime/main.ts';
import { binaryEvent, send } from '../../../test/support/http.ts';
import { Mesh } from './mesh.ts';
import { newImage, type Shape } from './objects.ts';

/** A mesh with instances of the function, and how tests speak to them. */
export class World extends Mesh {
  readonly calls: Call[] = [];
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  #settings: Readonly<Record<string, string>> = {};
  readonly #apps: Running[] = [];

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<World> {
    const world = new World(await Mesh.prepare());
    world.#settings = settings;
    await world.fill();
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

  /** An instance; one whose machine has a wrong clock believes that it is so much later. */
  async start(settings: Readonly<Record<string, string>> = {}, { aheadMs = 0 } = {}): Promise<Running> {
    const app = await serve({
      definitions: [istioRollout],
      environment: { PORT: '0', POD_NAMESPACE: 'kube-reflex', ...this.#settings, ...settings },
      access: kubeconfigAccess(JSON.stringify(this.sandbox.kubeconfig)),
      host: '127.0.0.1',
      log: pino({ level: 'debug' }, { write: (line) => this.logged.push(JSON.parse(line) as Record<string, unknown>) }),
      now: () => new Date(this.now().getTime() + aheadMs),
      observe: (call) => this.calls.push(call),
    });
    this.#apps.push(app);
    return app;
  }

  async app(): Promise<Running> {
    return this.#apps.at(-1) ?? this.start();
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

  /** What an operator asks for. */
  command(name: 'scan' | 'resume', value: string): Promise<void> {
    return this.change<ConfigMap>(configMaps, ['istio-rollout-state', 'kube-reflex'], ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, annotations: { [`istio-rollout.kube-reflex.dev/${name}`]: value } },
    }));
  }

  /** A new version of the control plane: what it injects, its ConfigMap, and the event about that. */
  async upgrade(image = newImage): Promise<void> {
    this.turn(3600);
    this.injector.behave({ image });
    await this.publish(image.split(':')[1] ?? '');
    await this.configMapEvent();
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

  override async close(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.close()));
    await super.close();
  }
}
