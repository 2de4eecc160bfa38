import { expect } from '@jest/globals';
import { distinct } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import type { Client, Reply } from '../../../lib/sandbox/test/contract/client.ts';
import { additions, changes } from './defaulting.ts';
import { applyManifest, pathOf } from '../../support/manifests.ts';

/** Paths that may be added to an object, by group and kind; a kind that is not named may get anything. */
export type Expected = Readonly<Record<string, readonly string[]>>;

/**
 * Asks the API what it would make of each object, without storing it. Every field must be known, none changed, and
 * nobody may warn.
 */
export async function judge(client: Client, manifests: readonly Manifest[], expected: Expected = {}): Promise<void> {
  expect(manifests).not.toEqual([]);
  await prepare(client, manifests);
  for (const manifest of manifests) {
    const { code, body, warnings } = await dryRun(client, manifest);
    const object = `${manifest.kind} ${manifest.metadata.name}`;

    const refusal = code === 200 || code === 201 ? undefined : body.message;
    expect({ object, refusal, warnings }).toEqual({ object, refusal: undefined, warnings: [] });
    expect({ object, changes: changes(manifest, body) }).toEqual({ object, changes: [] });
    const allowed = expected[`${manifest.apiVersion.split('/', 1)[0] ?? ''} ${manifest.kind}`];
    const surprises = additions(manifest, body).filter((path) => allowed?.includes(path) === false);
    expect({ object, surprises }).toEqual({ object, surprises: [] });
  }
}

/** What must be there before: Knative tries out the pod of each Service, under its account. */
async function prepare(client: Client, manifests: readonly Manifest[]): Promise<void> {
  for (const name of distinct(manifests.flatMap(({ metadata }) => metadata.namespace ?? []))) {
    await applyManifest(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const account of manifests.filter(({ kind }) => kind === 'ServiceAccount')) {
    await applyManifest(client, account);
  }
}

function dryRun(client: Client, manifest: Manifest): Promise<Reply> {
  return client.call('PATCH', pathOf(manifest), {
    body: manifest,
    query: { fieldManager: 'installer', force: true, dryRun: 'All', fieldValidation: 'Strict' },
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
}
