import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import { customResourceDefinitions, mutatingPolicyBindings } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { until } from '../../../lib/source/testing/until.ts';
import type { Scenario, Stage } from '../../../test/contract/rights/stage.ts';

const { namespace } = standardInstallation;

/** Every feature that asks for a right. */
const everything = { COVERAGE: 'true', MANAGE_WEBHOOK: 'full', POLICY: 'true' };

/** Rules that come, change, and are wrong at last, which is reported as an Event. */
export const scenario: Scenario = {
  runs: [
    {
      what: 'every feature',
      settings: everything,
      play: everyFeature,
    },
  ],
};

async function everyFeature({ sandbox: { api }, tick, appear }: Stage): Promise<void> {
  await api.create(customResourceDefinitions, bindingDefinition());
  await until(() => api.kinds().some(({ kind }) => kind === mutatingPolicyBindings.kind), 'the kind is served');
  await appear(teamNamespace);
  for (const weight of [7, 8, 0]) {
    await appear(rulesOf(weight));
    await tick();
  }
}

/** The sandbox leaves the kind out, since a binding would have no effect there. Here it is enough that one can be stored. */
function bindingDefinition(): KubeObject {
  const { group, version, kind, plural } = mutatingPolicyBindings;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests only' },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
  return definition;
}

const teamNamespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };

function rulesOf(weight: number): KubeObject {
  const rules = [{ name: 'pool', pool: { key: 'worker.gardener.cloud/pool', values: ['cpu-worker-0'] }, weight }];
  const data = { 'rules.yaml': JSON.stringify(rules) };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'node-affinity-mutate', namespace },
    data,
  };
  return object;
}
