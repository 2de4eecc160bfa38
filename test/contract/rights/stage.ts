import { pino } from 'pino';
import { accountAccess, grant } from '../../../lib/cli/start/accounts.ts';
import { startCompanions } from '../../../lib/cli/start/companion.ts';
import type { Found } from '../../../lib/cli/functions.ts';
import { layGround, registerWebhooks } from '../../../lib/cli/start/sandbox-world.ts';
import { exampleEnvironment, parseConfig, type Environment } from '../../../lib/function/config.ts';
import type { Definition } from '../../../lib/function/definition.ts';
import { partName } from '../../../lib/function/names.ts';
import type { Permission } from '../../../lib/function/permissions.ts';
import { askedBy, permissionsOf } from '../../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { accountWith } from '../../../lib/install/manifests/rights.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { createTransport, type Answer, type Request, type Transport } from '../../../lib/kube/transport.ts';
import { serve, type Running } from '../../../lib/runtime/main.ts';
import { accessOf, type ResourceAccess } from '../../../lib/sandbox/access/rbac.ts';
import type { Clock } from '../../../lib/sandbox/model/internal.ts';
import { sharedCertificates, type Certificates } from '../../../lib/sandbox/http/certificates.ts';
import { parseRoute } from '../../../lib/sandbox/http/request.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { binaryEvent, send, type Event } from '../../support/http.ts';
import { appear } from '../world.ts';
import type { Exercise, Half } from './needed.ts';

const { namespace } = standardInstallation;

/** Something for a function to do, with these settings. */
export interface Run {
  readonly what: string;
  readonly settings?: Environment;
  /** The function keeps its certificate by itself, and its halves are started by `play`. */
  readonly ownCertificate?: boolean;
  /** A control plane alone: no controllers, and nothing stands in for the surroundings of the function. */
  readonly bare?: boolean;
  readonly play: (stage: Stage) => Promise<void>;
}

/** What `functions/<name>/test/rights.ts` exports where samples are not enough to need every right. */
export interface Scenario {
  readonly runs: readonly Run[];
}

/** A cluster where a function runs as installed: two workloads, each under its own account with its exact rights. */
export interface Stage {
  readonly sandbox: Sandbox;
  /** The administrator. */
  readonly client: Client;
  /** Turns the clock of the cluster and of the function. */
  readonly turn: (seconds: number) => void;
  readonly start: (half: Half) => Promise<Running>;
  /** The half that runs. */
  readonly running: (half: Half) => Running;
  /** Sends a tick to the events half. */
  readonly tick: () => Promise<number>;
  /** Sends an event about the object to the events half. */
  readonly notify: (object: KubeObject) => Promise<number>;
  /** Creates or changes the object and sends an event about it. */
  readonly appear: (object: KubeObject) => Promise<void>;
  /** What a half has asked for so far. */
  readonly calls: (half: Half) => readonly Call[];
}

/** A call of a half to the API server. */
export interface Call extends ResourceAccess {
  readonly code: number;
}

/** Plays a run and records what each half asked for. */
export async function perform(found: Found, run: Run): Promise<Performed> {
  await using opened = new AsyncDisposableStack();
  const ground = await install(found, run, opened);
  const halves = createHalves(ground, opened);
  if (!ground.keepsCertificate) {
    await startAll(ground, halves);
  }
  const { definition, permissions, parts } = ground;
  const performed = parts.map((half) => ({ name: definition.name, half, permissions, calls: halves.calls(half) }));
  try {
    await run.play(stageOn(ground, halves));
  } catch (error) {
    if (refusedIn(performed).length === 0) {
      throw error; // otherwise the refusal is what to look at
    }
  }
  return performed;
}

interface Ground {
  readonly definition: Definition;
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly clock: ShiftedClock;
  readonly certificates: Certificates;
  readonly settings: Environment;
  readonly permissions: readonly Permission[];
  readonly parts: readonly Half[];
  readonly keepsCertificate: boolean;
}

const log = pino({ level: 'silent' });

/** Everything that an installation makes but the workloads and webhooks. */
async function install({ folder, definition }: Found, run: Run, opened: AsyncDisposableStack): Promise<Ground> {
  const { bare = false, ownCertificate: keepsCertificate = false } = run;
  const clock = shiftedClock();
  const options = { podReadyMs: 0, rbac: true, clock, controllers: !bare };
  const sandbox = opened.adopt(await startSandbox(options), (open) => open.close());
  const client = opened.adopt(createClient({ ...sandbox, token: sandbox.adminToken }), ({ close }) => close());
  const certificates = await sharedCertificates();
  const TLS_MODE = keepsCertificate ? 'self' : 'none';
  const settings = { ...exampleEnvironment(definition.config), TLS_MODE, ...run.settings };
  const config = parseConfig(definition.config, settings);
  const { permissions, admit } = askedBy(definition, config, standardInstallation);
  await layGround(sandbox.api, { namespace, definitions: [definition] });
  if (!bare) {
    opened.defer(await startCompanions([{ folder, definition }], { api: sandbox.api, certificates, log }));
  }
  const parts: readonly Half[] = admit.length > 0 ? ['events', 'webhook'] : ['events'];
  for (const part of parts) {
    const granted = permissionsOf(part === 'events' ? 'events' : 'admission', permissions);
    await grant(sandbox, accountWith({ name: definition.name, part, namespace }, granted));
  }
  return { definition, sandbox, client, clock, certificates, settings, permissions, parts, keepsCertificate };
}

type Halves = Pick<Stage, 'start' | 'running' | 'calls'>;

function createHalves(ground: Ground, opened: AsyncDisposableStack): Halves {
  const { definition, sandbox, settings, clock, certificates, keepsCertificate } = ground;
  const { name } = definition;
  const { certificate: cert, key } = certificates;
  const recorded: Record<Half, Call[]> = { events: [], webhook: [] };
  const started = new Map<Half, Running>();

  async function start(half: Half): Promise<Running> {
    const account = { name: partName(name, half), namespace };
    const running = await serve({
      definitions: [definition],
      environment: { ...settings, ...addressOf(half) },
      transportOf: () => recording(createTransport(accountAccess(sandbox, account)), recorded[half]),
      host: '127.0.0.1',
      log,
      now: () => clock.now(),
      ...(half === 'webhook' && !keepsCertificate ? { tls: { cert, key } } : {}),
    });
    opened.adopt(running, ({ close }) => close());
    started.set(half, running);
    return running;
  }

  function running(half: Half): Running {
    const found = started.get(half);
    if (found === undefined) {
      throw new Error(`the ${half} half of ${name} does not run`);
    }
    return found;
  }

  return { start, running, calls: (half) => recorded[half] };
}

async function startAll(ground: Ground, { start }: Halves): Promise<void> {
  const { definition, sandbox, settings, certificates, parts } = ground;
  await start('events');
  if (parts.includes('webhook')) {
    const { tlsUrl: webhooks } = await start('webhook');
    const { ca } = certificates;
    await registerWebhooks(sandbox.api, { namespace, definitions: [definition], settings, ca, webhooks });
  }
}

function stageOn({ sandbox, client, clock }: Ground, halves: Halves): Stage {
  async function sendEvent(event: Event): Promise<number> {
    return (await send(halves.running('events').url, binaryEvent(event))).status;
  }

  function notify({ apiVersion = '', kind = '', metadata }: KubeObject): Promise<number> {
    const place = { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' };
    return sendEvent({ type: 'dev.knative.apiserver.ref.update', apiVersion, kind, ...place });
  }

  return {
    ...{ sandbox, client, notify },
    ...halves,
    turn: clock.turn,
    tick: () => sendEvent({ type: 'dev.knative.sources.ping' }),
    appear: async (object) => {
      await appear(sandbox, object);
      await notify(object);
    },
  };
}

/** What each half was granted and asked for; calls come in until all is closed. */
export type Performed = readonly (Exercise & { readonly calls: readonly Call[] })[];

/** The calls that were refused because a right is missing. */
export function refusedIn(performed: Performed): readonly Call[] {
  return performed.flatMap(({ calls }) => calls).filter(({ code }) => code === 401 || code === 403);
}

function addressOf(half: Half): Environment {
  const ROLE = half === 'events' ? 'events' : 'admission';
  return { PORT: '0', TLS_PORT: '0', POD_NAMESPACE: namespace, CERT_POLL_SECONDS: '1', ROLE };
}

interface ShiftedClock extends Clock {
  readonly turn: (seconds: number) => void;
}

/** The time of the machine, turned on. */
function shiftedClock(): ShiftedClock {
  let shiftMs = 0;
  return {
    now: () => new Date(Date.now() + shiftMs),
    after: (ms, work) => {
      const timer = setTimeout(work, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
    turn: (seconds) => (shiftMs += seconds * 1000),
  };
}

function recording(transport: Transport, calls: Call[]): Transport {
  return {
    ...transport,
    send: async (request) => {
      const answer = await transport.send(request);
      calls.push(...callsIn(request, answer));
      return answer;
    },
  };
}

/** What everybody may ask, without a right of their own. */
const openToAll = 'selfsubjectaccessreviews';

/** A server-side apply that makes an object takes the right to create it as well. */
function callsIn({ method, path }: Request, { status: code }: Answer): readonly Call[] {
  const { pathname, searchParams } = new URL(path, 'https://cluster');
  const route = parseRoute(method, decodeURIComponent(pathname), searchParams);
  if (route?.to !== 'objects' || route.request.plural === openToAll) {
    return [];
  }
  const access = accessOf(route.request, searchParams.get('fieldSelector'));
  const { name: _name, ...unnamed } = access;
  const made = access.verb === 'patch' && code === 201 ? [{ ...unnamed, verb: 'create', code }] : [];
  return [{ ...access, code }, ...made];
}
