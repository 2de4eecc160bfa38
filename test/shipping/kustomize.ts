import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../lib/kube/model/manifest.ts';

const run = promisify(execFile);

/** What `kubectl apply -k` would send, built by kubectl's own kustomize. */
export async function kustomize(folder: string): Promise<Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', folder], { maxBuffer: 64 * 1024 * 1024 });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}
