import type { Definition } from '../function/define.ts';
import { configMaps, groupVersion, guessedPlural, subjectAccessReviews } from '../kube/resource.ts';
import { askedBy, knative, permissionsOf, renderFunction } from '../manifests/function-manifests.ts';
import { configOf, findInstallation, type Installed } from '../manifests/installed.ts';
import { partName, standardSite, type Manifest, type Site } from '../manifests/manifest.ts';
import { plain, source, subscriptions, subscriptionOf } from '../manifests/plain.ts';
import { sharedBy } from '../manifests/shared.ts';
import { inParallel } from '../work/in-parallel.ts';
import type { Finding, Found } from './finding.ts';
import { orUnknown, type Patient } from './look.ts';
import { checkPulse } from './pods.ts';
import { examineRights, questionsOf, width, type Question } from './rights.ts';
import { checkWebhooks } from './webhooks.ts';
import { examineObject, holds } from './wiring.ts';

/** What holds events back from reaching a function, or the function from answering them. */
export async function examineFunction(definition: Definition, patient: Patient): Promise<Finding[]> {
  const { name } = definition;
  const installed = await findInstallation(definition, patient);
  if (installed === undefined) {
    const message = `there is no Knative Service and no Deployment ${name} in ${patient.namespace}`;
    const fix = 'kubectl apply -k knative, or deploy/plain without Knative';
    return [{ function: name, check: 'installation', state: 'error', message, fix }];
  }
  const site = { ...standardSite, namespace: patient.namespace };
  const config = configOf(definition, installed.environment);
  const { manifests } = renderFunction(definition, site, installed);
  const found = await Promise.all([
    ...[...manifests, ...sharedWith(definition, { site, installed })]
      .filter(isWiring)
      .map((manifest) => checkObject(manifest, patient)),
    checkRights(definition, { patient, site, installed }),
    checkWebhooks({ name, admit: askedBy(definition, config, site).admit, config }, patient),
    checkSubscription(definition, { patient, site, installed }),
    checkPulse({ name, ticks: definition.tick !== undefined }, patient),
  ]);
  return [...unread(installed), ...found.flat()].map((each) => ({ function: name, ...each }));
}

/** Everything else is judged as if these settings had their defaults. */
function unread({ unread: settings }: Installed): Found[] {
  return settings.map((setting) => ({ check: 'settings', state: 'unknown', message: `${setting} can not be read` }));
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

async function checkObject(manifest: Manifest, { kube }: Patient): Promise<Found[]> {
  const { kind, apiVersion, metadata } = manifest;
  const { group, version } = groupVersion(apiVersion);
  const resource = { group, version, kind, plural: guessedPlural(kind), namespaced: metadata.namespace !== undefined };
  return orUnknown(`${kind} ${metadata.name}`, async () => examineObject(manifest, await kube.get(resource, metadata)));
}

interface Case {
  readonly patient: Patient;
  readonly site: Site;
  readonly installed: Installed;
}

/** Without Knative one source sends to all functions, as its ConfigMap says. */
async function checkSubscription(definition: Definition, { patient, site, installed }: Case): Promise<Found[]> {
  if (installed.platform !== plain) {
    return [];
  }
  const { namespace } = patient;
  const check = 'event source';
  const fix = 'apply deploy/plain again, generated for the settings that the function has';
  return orUnknown(check, async () => {
    const text = (await patient.kube.get(configMaps, { name: source, namespace }))?.data?.[subscriptions.key] ?? '[]';
    const written = JSON.parse(text) as readonly { readonly name: string }[];
    const wanted = JSON.parse(JSON.stringify(subscriptionOf(definition, site, installed.environment))) as object;
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
      return orUnknown(`rights of ${account}`, async () => [
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
