import { groupVersion, guessedPlural } from '../../lib/kube/model/resource.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import type { Body, Client } from '../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../lib/sandbox/test/contract/scratch.ts';

/** The common fields of any manifest, ours or of another product. */
export type AnyManifest = Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'> & Readonly<Record<string, unknown>>;

/** Makes the object exactly as given, as `kubectl apply --server-side` does. */
export async function applyManifest(client: Client, manifest: AnyManifest): Promise<Body> {
  const reply = await client.call('PATCH', pathOf(manifest), {
    body: manifest,
    query: { fieldManager: 'suite', force: true },
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  return expectCode(reply.code === 201 ? 201 : 200, reply);
}

/** Writes a status as a controller would. */
export async function patchStatus(client: Client, manifest: AnyManifest, status: object): Promise<Body> {
  const reply = await client.call('PATCH', `${pathOf(manifest)}/status`, {
    body: { status },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  return expectCode(200, reply);
}

export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: AnyManifest): string {
  const { group, version } = groupVersion(apiVersion);
  return [
    ...(group === '' ? ['/api'] : ['/apis', group]),
    version,
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    guessedPlural(kind),
    name,
  ].join('/');
}
