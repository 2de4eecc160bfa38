import { ConfigError } from '../../function/config.ts';
import type { Definition } from '../../function/definition.ts';
import {
  configMaps,
  groupVersion,
  guessedPlural,
  subjectAccessReviews,
  type Resource,
} from '../../kube/model/resource.ts';
import { askedBy, knative, permissionsOf, renderFunction } from '../manifests/function-manifests.ts';
import { configOf, findInstallation, type Installed } from '../manifests/installed.ts';
import { partName } from '../../function/names.ts';
import { standardInstallation, type Installation } from '../manifests/installation.ts';
import type { Manifest } from '../../kube/model/manifest.ts';
import { gatewaySubscriptionOf, openfaas } from '../manifests/openfaas.ts';
import { plain, source, subscriptions, plainSubscription } from '../manifests/plain.ts';
import { sharedBy } from '../manifests/shared.ts';
import { inParallel } from '../../base/in-parallel.ts';
import type { Finding, Found } from '../../runtime/doctor/finding.ts';
import { orFailure, type Patient } from '../../runtime/doctor/look.ts';
import { checkPulse } from './pods.ts';
import { examineRights, questionsOf, width, type Question } from '../../runtime/doctor/rights.ts';
import { subscriptionsIn } from './subscriptions.ts';
import { checkWebhooks } from '../../runtime/doctor/webhooks.ts';
import { examineObject, holds } from './wiring.ts';

/** What holds events back from reaching a function, or the function from answering them. */
export async function examineFunction(definition: Definition, patient: Patient): Promise<Finding[]> {
  const { name } = definition;
  const check = 'installation';
  const found = await orFailure(check, async () => {
    const installed = await findInstallation(definition, patient);
    const message = `there is no Knative Service and no Deployment ${name} in ${patient.namespace}`;
    const fix = 'kubectl apply -k deploy/overlay, once it names your image; --namespace says where the functions are';
    return installed === undefined
      ? [{ check, state: 'error', message, fix }]
      : examineInstallation(definition, byClusterClock(patient), installed);
  });
  return found.map((each) => ({ function: name, ...each }));
}

/** Times in a cluster are by its clock; the one of a laptop may be minutes off. */
function byClusterClock(patient: Patient): Patient {
  return { ...patient, now: patient.kube.serverTime() ?? patient.now };
}

async function examineInstallation(definition: Definition, patient: Patient, installed: Installed): Promise<Found[]> {
  const { name } = definition;
  const wrong = wrongSettings(definition, installed);
  if (wrong.length > 0) {
    return [...unread(installed), ...wrong, ...(await checkPulse(definition, patient, installed.platform))];
  }
  const site = { ...standardInstallation, namespace: patient.namespace };
  const config = configOf(definition, installed.environment);
  const { manifests } = renderFunction(definition, site, installed);
  const found = await Promise.all([
    ...[...manifests, ...sharedWith(definition, { site, installed })]
      .filter(isWiring)
      .map((manifest) => checkObject(manifest, patient)),
    checkRights(definition, { patient, site, installed }),
    checkWebhooks({ name, admit: askedBy(definition, config, site).admit, config }, patient),
    checkSubscription(definition, { patient, site, installed }),
    checkPulse(definition, patient, installed.platform),
  ]);
  return [...unread(installed), ...found.flat()];
}

/** What a function needs follows from its settings: with wrong ones, only its pods from before can still be judged. */
function wrongSettings(definition: Definition, { environment }: Installed): Found[] {
  try {
    configOf(definition, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) {
      const fix =
        'no pod starts with it: correct it in the manifests that you apply, or in what the workload takes it from';
      return error.problems.map((message) => ({ check: 'settings', state: 'error', message, fix }));
    }
    throw error;
  }
}

/** Everything else is judged as if these settings had their defaults. */
function unread({ unread: settings, closed }: Installed): Found[] {
  const fix = 'look as somebody who may read what its workload refers to';
  return [...settings, ...closed].map((setting) => ({
    check: 'settings',
    state: 'unknown',
    message: `${setting} can not be read`,
    fix,
  }));
}

/** What the function needs of that which all share; others may need more of it. */
function sharedWith(definition: Definition, { site, installed }: Omit<Case, 'patient'>): readonly Manifest[] {
  const { on } = askedBy(definition, configOf(definition, installed.environment), site);
  return installed.platform === knative ? sharedBy(on, site) : [];
}

const wiringKinds = new Set([
  'ApiServerSource',
  'PingSource',
  'Trigger',
  'Service',
  'Deployment',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
]);

function isWiring({ kind }: Manifest): boolean {
  return wiringKinds.has(kind);
}

async function checkObject(manifest: Manifest, { kube, transport }: Patient): Promise<Found[]> {
  const { kind, apiVersion, metadata } = manifest;
  const { group, version } = groupVersion(apiVersion);
  const resource = { group, version, kind, plural: guessedPlural(kind), namespaced: metadata.namespace !== undefined };
  const check = `${kind} ${metadata.name}`;
  return orFailure(check, async () => {
    const live = await kube.get(resource, metadata);
    const known = live !== undefined || group === '' || (await isServed(resource, transport));
    const message = `the cluster has no kind ${kind} of ${group}`;
    const fix = `install what brings ${group}, or use deploy/plain without Knative`;
    return known ? examineObject(manifest, live) : [{ check, state: 'error', message, fix }];
  });
}

async function isServed({ group, version, plural }: Resource, transport: Patient['transport']): Promise<boolean> {
  const { status, body } = await transport.send({ method: 'GET', path: `/apis/${group}/${version}` });
  const { resources = [] } = (status === 200 ? JSON.parse(body) : {}) as {
    readonly resources?: readonly { readonly name: string }[];
  };
  return status !== 404 && (status !== 200 || resources.some(({ name }) => name === plural));
}

interface Case {
  readonly patient: Patient;
  readonly site: Installation;
  readonly installed: Installed;
}

/** What the source of a platform without Knative is told. */
const subscribing = new Map([
  [plain, { subscription: plainSubscription, folder: 'deploy/plain' }],
  [openfaas, { subscription: gatewaySubscriptionOf, folder: 'deploy/openfaas/beside' }],
]);

/** Without Knative one source sends to all functions, as its ConfigMap says. */
async function checkSubscription(definition: Definition, { patient, site, installed }: Case): Promise<Found[]> {
  const way = subscribing.get(installed.platform);
  if (way === undefined) {
    return [];
  }
  const { namespace } = patient;
  const check = 'event source';
  const command = `npm run manifests -- --set ${definition.name}.NAME=VALUE --out DIR`;
  const fix = `apply your overlay of ${way.folder} again; for other settings than the defaults ${command} writes it`;
  return orFailure(check, async () => {
    const text = (await patient.kube.get(configMaps, { name: source, namespace }))?.data?.[subscriptions.key] ?? '[]';
    const written = subscriptionsIn(text);
    if (written === undefined) {
      const message = `${subscriptions.key} of its ConfigMap ${source} is no list of subscriptions: no source starts with it`;
      return [{ check, state: 'error', message, fix }];
    }
    const wanted = JSON.parse(JSON.stringify(way.subscription(definition, site, installed.environment))) as object;
    const given = written.find(({ name }) => name === definition.name);
    return [
      holds(wanted, given)
        ? { check, state: 'ok', message: 'it sends what the function needs' }
        : { check, state: 'error', message: `its ConfigMap ${source} asks for something else`, fix },
    ];
  });
}

async function checkRights(definition: Definition, { patient, site, installed }: Case): Promise<Found[]> {
  const { admit, permissions } = askedBy(definition, configOf(definition, installed.environment), site);
  const parts = [
    { part: 'events', role: 'events' },
    ...(admit.length === 0 ? [] : [{ part: 'webhook', role: 'admission' } as const]),
  ] as const;
  const found = await Promise.all(
    parts.map(({ part, role }) => {
      const account = partName(definition.name, part);
      const questions = questionsOf(permissionsOf(role, permissions), patient.namespace);
      return orFailure(`rights of ${account}`, async () => [
        examineRights(account, await inParallel(width, questions, (question) => ask(question, account, patient))),
      ]);
    }),
  );
  return found.flat();
}

async function ask(
  question: Question,
  account: string,
  { kube, namespace }: Patient,
): Promise<readonly [Question, boolean]> {
  const user = `system:serviceaccount:${namespace}:${account}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const spec = { user, groups, resourceAttributes: question };
  const { status } = await kube.ask(subjectAccessReviews, { metadata: {}, spec });
  return [question, status?.allowed === true];
}
