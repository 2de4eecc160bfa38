import type { Definition } from '../function/define.ts';
import {
  configMaps,
  groupVersion,
  guessedPlural,
  mutatingWebhooks,
  secrets,
  validatingWebhooks,
  type Resource,
} from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import { askedBy, knative, permissionsOf, renderFunction } from '../manifests/function-manifests.ts';
import { configOf, findInstallation, type Installed } from '../manifests/installed.ts';
import { partName, standardSite, type Manifest, type Site } from '../manifests/manifest.ts';
import { plain, source, subscriptions, subscriptionOf } from '../manifests/plain.ts';
import { sharedBy } from '../manifests/shared.ts';
import type { Finding, Found } from './finding.ts';
import { checkLastSuccess } from './last-success.ts';
import { orUnknown, readable, type Patient } from './look.ts';
import { examineRights, questionsOf, type Question } from './rights.ts';
import { examineTrust } from './trust.ts';
import { examineObject, holds } from './wiring.ts';

const accessReviews: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/** What holds events back from reaching a function, or the function from answering them. */
export async function examineFunction(definition: Definition, patient: Patient): Promise<Finding[]> {
  const { name } = definition;
  const installed = await findInstallation(name, patient);
  if (installed === undefined) {
    const message = `there is no Knative Service and no Deployment ${name} in ${patient.namespace}`;
    const fix = 'kubectl apply -k knative, or deploy/plain without Knative';
    return [{ function: name, check: 'installation', state: 'error', message, fix }];
  }
  const site = { ...standardSite, namespace: patient.namespace };
  const { manifests } = renderFunction(definition, site, installed);
  const found = await Promise.all([
    ...[...manifests, ...sharedWith(definition, { site, installed })]
      .filter(isWiring)
      .map((manifest) => checkObject(manifest, patient)),
    checkRights(definition, { patient, site, installed }),
    checkTrust(manifests, { patient, secret: secretOf(definition, installed) }),
    checkSubscription(definition, { patient, site, installed }),
    checkLastSuccess(name, patient),
  ]);
  return found.flat().map((each) => ({ function: name, ...each }));
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
        examineRights(account, await Promise.all(questions.map((question) => ask(question, account, patient)))),
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
  const review: KubeObject = { metadata: {}, spec: { user, groups, resourceAttributes: question } } as KubeObject;
  const { status } = (await kube.rehearse(accessReviews, review)) as {
    readonly status?: { readonly allowed?: boolean };
  };
  return [question, status?.allowed === true];
}

function secretOf(definition: Definition, { environment }: Installed): string | undefined {
  const { TLS_SECRET } = configOf(definition, environment) as { readonly TLS_SECRET?: string };
  return TLS_SECRET;
}

async function checkTrust(
  manifests: readonly Manifest[],
  { patient, secret }: { readonly patient: Patient; readonly secret: string | undefined },
): Promise<Found[]> {
  const { kube, namespace, now } = patient;
  const configurations = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  const found = configurations.map(({ kind, metadata: { name } }) =>
    orUnknown(`certificate of ${name}`, async () => {
      const resource = kind.startsWith('Mutating') ? mutatingWebhooks : validatingWebhooks;
      const configuration = await kube.get<KubeObject>(resource, { name });
      const held = secret === undefined ? undefined : await readable(kube.get(secrets, { name: secret, namespace }));
      return configuration === undefined ? [] : examineTrust({ configuration, secret: held, now });
    }),
  );
  return (await Promise.all(found)).flat();
}
