import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../deploy/bundle.ts';
import { launch } from '../../../deploy/launch.ts';
import freezeCheck from '../../../functions/freeze-check/index.ts';
import { maintenanceWindows } from '../../../functions/freeze-check/policy.ts';
import { apiVersion, customResourceDefinitions, namespaces } from '../../../lib/kube/model/resource.ts';
import { reviewOf } from '../../../lib/kube/model/review.ts';
import { startSandbox, type Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { nightly } from '../../../functions/freeze-check/test/objects.ts';
import { deployment } from '../../../functions/freeze-check/test/reviews.ts';
import { review } from './pace.ts';
import { benchProgram, programs, start, type Started } from './program.ts';
import { webhookCertificates } from './site.ts';

export const host = 'freeze-check-webhook.default.svc';
export const path = '/validate-freeze-operator-io-v1alpha1-workloads?timeout=5s';

/** freeze-check as it ships beside node:https alone, on one core. */
export interface Place {
  readonly sandbox: Sandbox;
  readonly floor: Started;
  readonly served: Started;
  readonly ca: Buffer;
}

export async function openPlace(stack: AsyncDisposableStack): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-reflex-bench-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const certificates = await webhookCertificates(join(directory, 'certificates'), host);
  const sandbox = await startSandbox({ controllers: false });
  stack.defer(() => sandbox.close());
  for (const kind of freezeCheck.kinds ?? []) {
    await sandbox.api.create(customResourceDefinitions, kind);
  }
  await sandbox.api.create(namespaces, { metadata: { name: 'prod', labels: { env: 'prod' } } });
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(sandbox.kubeconfig));
  const built = await bundle('functions/freeze-check', directory);
  const { flags, environment } = launch({ compileCache: join(directory, 'cache') });
  const settings = {
    KUBECONFIG: join(directory, 'kubeconfig'),
    CERT_DIR: certificates,
    PORT: '0',
    TLS_PORT: '0',
    DRAIN_SECONDS: '0',
  };
  const served = await start({
    file: built.file,
    flags: ['--require', join(programs, 'clock.cjs'), ...flags],
    core: 0,
    environment: { ...environment, ...settings },
  });
  stack.defer(async () => {
    await served.stop();
  });
  const mounted = join(certificates, '..data');
  const floor = await start({ ...benchProgram('review.cjs', { CERT_DIR: mounted, PATCH: '[]' }), core: 0 });
  stack.defer(async () => {
    await floor.stop();
  });
  return { sandbox, floor, served, ca: await readFile(join(mounted, 'ca.crt')) };
}

/** Minutes pass at once for the function: it turns its clock before it answers how much it has used. */
export async function passMinutes({ served }: Place, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    served.signal('SIGHUP');
    await served.usage();
  }
}

let generation = 0;

/** So many windows of a second each by this schedule, in UTC, in place of those that are there, once reviews go by them. */
export async function setPolicies(place: Place, count: number, schedule: string): Promise<void> {
  const { api } = place.sandbox;
  generation += 1;
  for (const { metadata } of api.list(maintenanceWindows)) {
    await api.remove(maintenanceWindows, { name: metadata?.name ?? '' });
  }
  const windows = [{ name: 'w', schedule: `CRON_TZ=UTC ${schedule}`, duration: '1s' }];
  for (let index = 0; index < count; index += 1) {
    const policy = nightly(`g${generation}-${index}`, { timezone: 'Europe/Berlin', windows });
    await api.create(maintenanceWindows, {
      apiVersion: apiVersion(maintenanceWindows),
      kind: 'MaintenanceWindow',
      ...policy,
    });
  }
  await until(place, ({ status }) => {
    const causes = status?.details?.causes ?? [];
    return causes.length === count && causes.every(({ field }) => field.startsWith(`g${generation}-`));
  });
}

/** What every policy of the bench refuses. */
export const rollout = JSON.stringify(
  reviewOf({
    uid: 'bench',
    kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    namespace: 'prod',
    name: 'web',
    operation: 'UPDATE',
    userInfo: { username: 'dev@x', groups: ['system:authenticated'] },
    object: deployment({ image: 'web:2', annotations: { filler: 'x'.repeat(3_000) } }),
    oldObject: deployment({ annotations: { filler: 'x'.repeat(3_000) } }),
    options: null,
  }),
);

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly details?: { readonly causes?: readonly { readonly field: string }[] } };
}

/** Asks until the answer is the one wanted; returns how long that took. */
export async function until({ served, ca }: Place, isWanted: (answer: Answer) => boolean): Promise<number> {
  const agent = new https.Agent({ ca, servername: host, keepAlive: true });
  const started = performance.now();
  for (;;) {
    const answer = await review(served, { path, body: rollout, agent });
    const { response } = JSON.parse(answer) as { readonly response: Answer };
    if (isWanted(response)) {
      agent.destroy();
      return performance.now() - started;
    }
  }
}
