import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { renderFunction } from '../../lib/manifests/function-manifests.ts';
import { standardSite, type Manifest } from '../../lib/manifests/manifest.ts';
import { openfaas, gatewaySubscriptionOf } from '../../lib/manifests/openfaas.ts';
import { plain, plainSource, subscribedSource } from '../../lib/manifests/plain.ts';
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
    expect.objectContaining({ check: 'installation', fix: expect.stringContaining('kubectl apply -k knative') }),
  ]);
});

describe('the doctor of a function on Kubernetes alone', () => {
  const { manifests } = renderFunction(definition, standardSite, { platform: plain });

  beforeEach(() => install(cluster, [...manifests, ...plainSource([definition])]));

  it('finds nothing to mend when all is well', async () => {
    expect(await cluster.problems()).toEqual([]);
  });

  it('tells a source that was generated for other settings', async () => {
    await cluster.apply(configMapOf(plainSource([])));

    expect(await cluster.problems()).toEqual([
      expect.objectContaining({ check: 'event source', fix: expect.stringContaining('deploy/plain again') }),
    ]);
  });
});

describe('the doctor of a function on OpenFaaS', () => {
  const { manifests } = renderFunction(definition, standardSite, { platform: openfaas });
  const source = subscribedSource([gatewaySubscriptionOf(definition, standardSite)], standardSite);
  const [made] = renderFunction(definition, standardSite, { platform: plain }).manifests.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === definition.name,
  );

  beforeEach(async () => {
    const labels = { faas_function: definition.name };
    await install(cluster, [...manifests, ...source, { ...made, metadata: { ...made?.metadata, labels } } as Manifest]);
  });

  it('expects events by the gateway, and no Service of ours', async () => {
    expect(await cluster.problems()).toEqual([]);
  });

  it('tells a source that goes past the gateway', async () => {
    await cluster.apply(configMapOf(plainSource([definition])));

    expect(await cluster.problems()).toEqual([
      expect.objectContaining({ check: 'event source', fix: expect.stringContaining('deploy/openfaas/beside again') }),
    ]);
  });
});

function configMapOf(manifests: readonly Manifest[]): Manifest {
  const found = manifests.find(({ kind }) => kind === 'ConfigMap');
  if (found === undefined) {
    throw new Error('the source has no ConfigMap');
  }
  return found;
}
