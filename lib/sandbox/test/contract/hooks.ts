import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { startHookServer, type AdmissionRequest, type Hook, type HookServer } from './hook-server.ts';
import { configMap } from './samples.ts';
import { expectCode, uniqueName, type Scratch } from './scratch.ts';
import { eventually } from './watching.ts';

type Flavour = 'Mutating' | 'Validating';

/** A webhook to register: what it answers, and what differs from the usual settings. */
export interface HookOptions {
  readonly answer?: Hook;
  /** Fields of the webhook in its configuration. */
  readonly fields?: object;
}

export interface Hooks {
  /** Value of the label `hooks` that an object needs to be seen by what this case registers. */
  readonly label: string;
  readonly server: HookServer;
  /** Names of the webhooks in the order in which they were called. */
  readonly called: readonly string[];
  readonly requests: readonly AdmissionRequest[];
  /** Registers a configuration and resolves once it works. `name` orders configurations. */
  readonly register: (flavour: Flavour, name: string, hooks: Readonly<Record<string, HookOptions>>) => Promise<void>;
  /** A ConfigMap that the webhooks see. */
  readonly seen: (name: string, data?: Readonly<Record<string, string>>) => object;
}

/** Registers webhooks for one case at a time; they are gone after it. */
export function useHooks(scratch: () => Scratch): () => Hooks {
  let server: HookServer | undefined;
  let cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startHookServer(`hooks.${scratch().namespace}.svc`);
  });
  afterEach(async () => {
    await Promise.all(cleanups.map((cleanup) => cleanup()));
    cleanups = [];
  });
  afterAll(() => server?.close());
  return () => {
    if (server === undefined) {
      throw new Error('webhooks are only there inside a test');
    }
    return openHooks(scratch(), server, (cleanup) => cleanups.push(cleanup));
  };
}

function openHooks(scratch: Scratch, server: HookServer, atEnd: (cleanup: () => Promise<unknown>) => void): Hooks {
  const label = uniqueName('hooks');
  const called: string[] = [];
  const requests: AdmissionRequest[] = [];

  async function register(flavour: Flavour, name: string, hooks: Readonly<Record<string, HookOptions>>): Promise<void> {
    const collection = `/apis/admissionregistration.k8s.io/v1/${flavour.toLowerCase()}webhookconfigurations`;
    const id = `${label}-${name}`;
    const marker = { objectSelector: { matchLabels: { marker: id } } };
    const webhooks = Object.entries(hooks).map(([hook, { answer = allow, fields = {} }]) => {
      const path = `/${id}/${hook}`;
      server.on(path, (request, search) => {
        called.push(hook);
        requests.push(request);
        return answer(request, search);
      });
      return webhook(`${hook}.example.com`, path, fields);
    });
    const body = { metadata: { name: id }, webhooks: [...webhooks, webhook('marker.example.com', `/${id}`, marker)] };
    expectCode(201, await scratch.call('POST', collection, { body }));
    atEnd(() => scratch.call('DELETE', `${collection}/${id}`));
    await untilCalled(scratch, server, id);
  }

  function webhook(name: string, path: string, fields: object): object {
    return {
      name,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      timeoutSeconds: 5,
      clientConfig: { url: `${server.url}${path}`, caBundle: server.caBundle },
      rules: [
        { operations: ['CREATE', 'UPDATE', 'DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
      ],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': scratch.namespace } },
      objectSelector: { matchLabels: { hooks: label } },
      ...fields,
    };
  }

  function seen(name: string, data: Readonly<Record<string, string>> = {}): object {
    return configMap(name, data, { labels: { hooks: label } });
  }
  return { label, server, called, requests, register, seen };
}

function allow(): object {
  return {};
}

/** A configuration takes effect a moment after it is written: its marker shows when. */
async function untilCalled({ call, path }: Scratch, server: HookServer, id: string): Promise<void> {
  const calls: string[] = [];
  server.on(`/${id}`, ({ uid }) => {
    calls.push(uid);
    return {};
  });
  const body = configMap('marker', {}, { labels: { marker: id } });
  await eventually(
    () => call('POST', path('configmaps'), { query: { dryRun: 'All' }, body }),
    () => calls.length > 0,
  );
}
