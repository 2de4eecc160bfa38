import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { startCompanions } from '../../lib/cli/start/companion.ts';
import { findFunctions, type Found } from '../../lib/cli/functions.ts';
import { fillSandbox } from '../../lib/cli/start/sandbox-world.ts';
import { samplesOf } from '../../lib/cli/start/samples.ts';
import { questionsOf, type Question } from '../../lib/runtime/doctor/rights.ts';
import { exampleEnvironment, parseConfig } from '../../lib/function/config.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { deployments, groupVersion, type Deployment } from '../../lib/kube/model/resource.ts';
import { createTransport } from '../../lib/kube/transport.ts';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import { serve, type Running } from '../../lib/runtime/main.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { subscriptionOf } from '../../lib/install/manifests/plain.ts';
import { createCertificates } from '../../lib/sandbox/http/certificates.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { startSource } from '../../lib/source/source.ts';
import { until } from '../../lib/source/testing/until.ts';
import { binaryEvent, send } from '../support/http.ts';

const { namespace } = standardInstallation;
const managers = 'kube-reflex.dev/';

/** Every feature that writes is on. */
const environment: Readonly<Record<string, string>> = {
  PORT: '0',
  TLS_PORT: '0',
  POD_NAMESPACE: namespace,
  COREDNS_AUTO_CONFIGURE: 'true',
  TOUCH_PODS: 'true',
  EMIT_EVENTS: 'true',
  MANAGE_WEBHOOK: 'full',
  ISTIOD_CONFIG_READ_DELAY: '0s',
};

function settingsOf({ config }: Definition): Readonly<Record<string, string>> {
  return { ...exampleEnvironment(config), ...environment };
}

const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** What the function may write, each right on its own. */
function writesOf(definition: Definition, more: Readonly<Record<string, string>> = {}): readonly Question[] {
  const config = parseConfig(definition.config, { ...settingsOf(definition), TLS_MODE: 'self', ...more });
  const permissions = definition.permissions?.(config, { namespace }) ?? [];
  return questionsOf(permissions, namespace).filter(({ verb }) => writing.has(verb));
}

/** Whether both may write the same object. What is only created, and by different names, is not the same. */
function meet(one: Question, other: Question): boolean {
  return (
    one.group === other.group &&
    one.resource === other.resource &&
    one.subresource === other.subresource &&
    overlap(one.namespace, other.namespace) &&
    overlap(one.name, other.name) &&
    one.verb !== 'create' &&
    other.verb !== 'create'
  );
}

/** Absent: all. */
function overlap(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/**
 * Where two functions have the right to write the same object, and what each of them writes there. Whoever adds a line has
 * to say why they never meet.
 */
const sharedKinds: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  // Volume and mount of the rules here; the annotation that restarts, and notes, there.
  'deployments.apps': {
    'coredns-sync': /: f:spec f:template f:spec (f:volumes|f:containers .* f:volumeMounts) /,
    'istio-rollout': /: (f:spec f:template )?f:metadata f:annotations f:istio-rollout\.kube-reflex\.dev\//,
  },
  // Each its own, by name; the rights of coredns-sync in its namespace name none, since its records have many.
  configmaps: {
    'coredns-sync': /^ConfigMap (kube-reflex\/coredns-sync-|kube-system\/)/,
    'freeze-check': /^ConfigMap kube-reflex\/freeze-check-state:/,
    'istio-rollout': /^ConfigMap kube-reflex\/istio-rollout-/,
    'node-affinity-mutate': /^ConfigMap kube-reflex\/node-affinity-mutate-/,
  },
};
const kindOf: Readonly<Record<string, string>> = { 'deployments.apps': 'Deployment', configmaps: 'ConfigMap' };

describe('what functions may write', () => {
  let definitions: readonly Definition[];
  beforeAll(async () => {
    definitions = (await findFunctions('functions')).map(({ definition }) => definition);
  });

  it('overlaps with that of others only where their fields are known to differ', () => {
    const overlapping = definitions.flatMap((one, index) =>
      definitions.slice(index + 1).flatMap((other) =>
        writesOf(one)
          .filter((right) => writesOf(other).some((theirs) => meet(right, theirs)))
          .flatMap(({ resource, group }) => {
            const kind = group === '' ? resource : `${resource}.${group}`;
            return [one.name, other.name].map((name) => `${kind} ${name}`);
          }),
      ),
    );

    const known = Object.entries(sharedKinds).flatMap(([kind, by]) => Object.keys(by).map((name) => `${kind} ${name}`));
    expect([...new Set(overlapping)].sort()).toEqual(known.sort());
  });

  it('for themselves has names that no two of them share', () => {
    const kept = definitions.flatMap((definition) =>
      (definition.keeps?.(parseConfig(definition.config, settingsOf(definition)), { namespace }) ?? []).map(
        ({ resource, name }) => `${resource.kind} ${name}`,
      ),
    );

    expect(kept.length).toBeGreaterThan(definitions.length);
    expect(new Set(kept).size).toBe(kept.length);
  });
});

describe('all functions at work on one cluster', () => {
  const opened = new AsyncDisposableStack();
  /** By object and field: which functions have ever written it. */
  const writers = new Map<string, Set<string>>();
  let sandbox: Sandbox;
  let running: Running;
  let found: readonly Found[];

  beforeAll(async () => {
    found = await findFunctions('functions');
    sandbox = opened.adopt(await startSandbox({ podReadyMs: 0 }), (open) => open.close());
    const definitions = found.map(({ definition }) => definition);
    const certificates = await createCertificates(new Date());
    const { ca, certificate: cert, key } = certificates;
    const settings = Object.assign({}, ...definitions.map(settingsOf)) as Readonly<Record<string, string>>;
    const access = kubeconfigAccess(JSON.stringify(sandbox.kubeconfig));
    const log = pino({ level: 'silent' });
    const host = '127.0.0.1';
    const options = { definitions, environment: settings, access, host, tls: { cert, key }, log };
    running = opened.adopt(await serve(options), ({ close }) => close());
    await fillSandbox(sandbox, { namespace, definitions, settings, ca, webhooks: running.tlsUrl });
    opened.defer(await startCompanions(found, { api: sandbox.api, certificates, log }));
    for (const kind of sandbox.api.kinds()) {
      sandbox.api.subscribe(kind, ({ object }) => note(kind.kind, object));
    }
    const subscriptions = definitions.map((definition) => ({
      ...subscriptionOf(definition, standardInstallation, settings),
      sink: new URL(`/${definition.name}`, running.url),
    }));
    const transport = opened.adopt(createTransport(access), ({ close }) => close());
    opened.adopt(await startSource({ transport, namespace, subscriptions, log }), ({ close }) => close());
  });
  afterAll(() => opened.disposeAsync());

  function note(kind: string, { metadata = {} }: KubeObject): void {
    const { namespace: place = '', name = '', uid = '', managedFields = [] } = metadata;
    for (const { manager = '', fieldsV1 } of managedFields.filter((entry) => entry.manager?.startsWith(managers))) {
      for (const field of fieldsIn(fieldsV1)) {
        const key = `${kind} ${place}/${name} ${uid}: ${field}`;
        writers.set(key, (writers.get(key) ?? new Set()).add(manager.slice(managers.length)));
      }
    }
  }

  async function tickAll(): Promise<void> {
    for (const { definition } of found) {
      await send(new URL(`/${definition.name}`, running.url), {
        ...binaryEvent({ type: 'dev.knative.sources.ping' }),
        path: `/${definition.name}`,
      });
    }
  }

  async function appear(object: KubeObject): Promise<void> {
    const { api } = sandbox;
    const { group } = groupVersion(object.apiVersion ?? '');
    const kind = api.kinds().find((served) => served.group === group && served.kind === object.kind);
    const { name = '', namespace: place } = object.metadata ?? {};
    if (kind === undefined) {
      throw new Error(`the sandbox has no ${object.kind ?? ''}`);
    }
    const there = api.get(kind, name, place);
    if (there !== undefined) {
      await until(
        () => (api.list(deployments) as readonly Deployment[]).every(isAvailable),
        'all workloads run',
        30_000,
      );
    }
    await (
      there === undefined
        ? api.create(kind, object)
        : api.update(kind, { ...there, ...object, metadata: { ...there.metadata, ...object.metadata } })
    ).catch(() => undefined); // a sample may be one that a freeze refuses
  }

  function written(by: string): readonly string[] {
    return [...writers].filter(([, names]) => names.has(by)).map(([key]) => key);
  }

  function restarts(): readonly string[] {
    return written('istio-rollout').filter((key) => key.startsWith('Deployment '));
  }

  it('no two write the same field of the same object', async () => {
    for (const object of found.flatMap(({ folder }) => samplesOf(folder))) {
      await appear(object);
    }
    await tickAll();
    await until(
      () => found.every(({ definition }) => written(definition.name).length > 0) && restarts().length > 0,
      'every function has written, and a workload was restarted',
      45_000,
    );

    const contested = [...writers]
      .filter(([, names]) => names.size > 1)
      .map(([key, names]) => `${key} ${[...names].join()}`);
    expect(contested).toEqual([]);
    expect(written('coredns-sync').filter((key) => key.startsWith('Deployment '))).not.toEqual([]);
  });

  it('and of kinds that several may write each writes only what is known', () => {
    const strangers = Object.entries(sharedKinds).flatMap(([kind, by]) =>
      Object.entries(by).flatMap(([name, pattern]) =>
        written(name).filter((key) => key.startsWith(`${kindOf[kind] ?? ''} `) && !pattern.test(`${key} `)),
      ),
    );

    expect(strangers).toEqual([]);
  });
});

function isAvailable({ spec, status }: Deployment): boolean {
  return status?.availableReplicas === spec?.replicas;
}

/** The paths of all leaves. That a map or list is there at all belongs to everybody who has something in it. */
function fieldsIn(fields: unknown, path: readonly string[] = []): readonly string[] {
  const entries = Object.entries((fields ?? {}) as Readonly<Record<string, unknown>>).filter(([key]) => key !== '.');
  return entries.length === 0
    ? path.length === 0
      ? []
      : [path.join(' ')]
    : entries.flatMap(([key, rest]) => fieldsIn(rest, [...path, key]));
}
