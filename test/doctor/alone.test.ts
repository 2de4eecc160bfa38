import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Deployment } from '../../lib/kube/model/resource.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { openfaas, gatewaySubscriptionOf } from '../../lib/install/manifests/openfaas.ts';
import { plain, plainSource, subscribedSource } from '../../lib/install/manifests/plain.ts';
import definition from '../functions/host-census/index.ts';
import { install } from './installation.ts';
import { openCluster, type Cluster } from './patient.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await openCluster();
});

afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
});

it('says that a function is not there, and how to install it', async () => {
  expect(await cluster.problems()).toEqual([
    expect.objectContaining({ check: 'installation', fix: expect.stringContaining('kubectl apply -k deploy/overlay') }),
  ]);
});

describe('the doctor of a function on Kubernetes alone', () => {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: plain });

  beforeEach(() => install(cluster, [...manifests, ...plainSource([definition])]));

  it('finds no problem when all is well', async () => {
    expect(await cluster.problems()).toEqual([]);
  });

  it('does not speak of Knative where no pod runs', async () => {
    const findings = await cluster.findings();

    expect(findings.filter(({ message, fix = '' }) => /knative/i.test(message + fix))).toEqual([]);
    expect(findings).toContainEqual({
      function: 'host-census',
      check: 'last success',
      state: 'unknown',
      message: 'no pod of its Deployment runs',
      fix: 'kubectl -n kube-reflex describe deployment host-census shows why',
    });
  });

  it('says that nothing handles events where the Deployment is scaled to 0', async () => {
    const workload = workloadOf(manifests);
    await cluster.apply({ ...workload, spec: { ...(workload['spec'] as object), replicas: 0 } });

    expect(await cluster.problems()).toEqual([
      expect.objectContaining({
        check: 'last success',
        message: 'no pod runs: its Deployment is scaled to 0, so nothing handles events and ticks',
        fix: 'kubectl -n kube-reflex scale deployment host-census --replicas=1',
      }),
    ]);
  });

  it('reports a source that was generated for other settings', async () => {
    await cluster.apply(configMapOf(plainSource([])));

    expect(await cluster.problems()).toEqual([
      expect.objectContaining({ check: 'event source', fix: expect.stringContaining('deploy/plain again') }),
    ]);
  });
});

describe('the doctor of a function whose source was edited by hand', () => {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: plain });
  const shipped = plainSource([definition]);

  it.each([
    ['no JSON', '[{"name": "host-census",}]'],
    ['no list', '{"name": "host-census"}'],
    ['a list of something else', '[null]'],
  ])('reports that its ConfigMap holds %s, and checks the rest', async (_what, text) => {
    await install(cluster, [...manifests, ...shipped]);
    await cluster.apply({ ...configMapOf(shipped), data: { 'subscriptions.json': text } });

    expect(await cluster.problems()).toEqual([
      {
        function: 'host-census',
        check: 'event source',
        state: 'error',
        message: expect.stringMatching(/^subscriptions\.json of its ConfigMap source is no list of subscriptions/),
        fix: expect.stringContaining('deploy/plain again'),
      },
    ]);
    expect(await cluster.findings()).toContainEqual(expect.objectContaining({ check: 'rights of host-census' }));
  });
});

describe('the doctor of a function with wrong settings', () => {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: plain });

  it('names each of them, and says where to fix it', async () => {
    await install(cluster, [...manifests, ...plainSource([definition])]);
    await cluster.apply(withVariable(workloadOf(manifests), { name: 'CONFIG_MAP', value: 'Not A Name' }));

    expect(await cluster.problems()).toEqual([
      {
        function: 'host-census',
        check: 'settings',
        state: 'error',
        message: expect.stringMatching(/^CONFIG_MAP .*got "Not A Name"/),
        fix: expect.stringContaining('in the manifests that you apply'),
      },
    ]);
  });
});

describe('the doctor of a function on OpenFaaS', () => {
  const { manifests } = renderFunction(definition, standardInstallation, { platform: openfaas });
  const source = subscribedSource([gatewaySubscriptionOf(definition, standardInstallation)], standardInstallation);
  const made = workloadOf(renderFunction(definition, standardInstallation, { platform: plain }).manifests);

  beforeEach(async () => {
    const labels = { faas_function: definition.name };
    await install(cluster, [...manifests, ...source, { ...made, metadata: { ...made.metadata, labels } }]);
  });

  it('expects events by the gateway, and no Service of ours', async () => {
    expect(await cluster.problems()).toEqual([]);
  });

  it('reports a source that bypasses the gateway', async () => {
    await cluster.apply(configMapOf(plainSource([definition])));

    expect(await cluster.problems()).toEqual([
      expect.objectContaining({ check: 'event source', fix: expect.stringContaining('deploy/openfaas/beside again') }),
    ]);
  });
});

function configMapOf(manifests: readonly Manifest[]): Manifest {
  return only(manifests, ({ kind }) => kind === 'ConfigMap');
}

/** What runs the events half of the function. */
function workloadOf(manifests: readonly Manifest[]): Manifest {
  return only(manifests, ({ kind, metadata }) => kind === 'Deployment' && metadata.name === definition.name);
}

function only(manifests: readonly Manifest[], isIt: (manifest: Manifest) => boolean): Manifest {
  const found = manifests.find(isIt);
  if (found === undefined) {
    throw new Error('no such manifest is shipped');
  }
  return found;
}

function withVariable(manifest: Manifest, variable: { readonly name: string; readonly value: string }): Manifest {
  const changed = structuredClone(manifest) as unknown as Deployment;
  const [container] = changed.spec?.template.spec?.containers ?? [];
  container?.env?.push(variable);
  return changed as unknown as Manifest;
}
