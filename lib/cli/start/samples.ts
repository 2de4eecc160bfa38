import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, type Document } from 'yaml';
import type { KubeObject } from '../../kube/model/wire.ts';

/**
 * What to try with a function, as its `samples.yaml` says: a comment `# try: COMMAND` for each. `{url}` stands for where
 * the function answers.
 */
export function trialsOf(folder: string): readonly string[] {
  return textOf(folder)
    .split('\n')
    .flatMap((line) => /^# try: (.+)$/.exec(line)?.[1] ?? []);
}

/** The objects of a function's `samples.yaml`, in the order in which a newcomer should see them appear. */
export function samplesOf(folder: string): readonly KubeObject[] {
  const text = textOf(folder);
  return text === '' ? [] : parseAllDocuments(text).map((document) => objectIn(document, folder));
}

function objectIn(document: Document, folder: string): KubeObject {
  const [error] = document.errors;
  if (error !== undefined) {
    throw new Error(`read the samples in ${folder}: ${error.message}`, { cause: error });
  }
  return document.toJS() as KubeObject;
}

function textOf(folder: string): string {
  const file = join(folder, 'samples.yaml');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
