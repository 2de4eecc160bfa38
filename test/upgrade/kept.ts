import { hash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../lib/kube/model/wire.ts';
import type { KindRef, ServedKind } from '../../lib/sandbox/model/internal.ts';
import type { Sandbox } from '../../lib/sandbox/sandbox.ts';

export type Settings = Readonly<Record<string, string>>;

/** What a scenario leaves in a cluster. */
export interface Captured {
  /** What time it is for the function at that moment. */
  readonly at: Date;
  /** The settings of the function. */
  readonly settings: Settings;
  readonly objects: readonly KubeObject[];
}

/** The same as a file of a released version. */
export interface Kept extends Captured {
  readonly version: string;
  readonly scenario: string;
}

const folder = import.meta.dirname;

/** A scenario of a function as each version left it. */
export function keptBy(functionName: string, scenario: string): readonly Kept[] {
  const files = versions().map((version) => join(folder, version, functionName, `${scenario}.yaml`));
  return files.filter((file) => existsSync(file)).map((file) => read(file, scenario));
}

/** The versions of which something is kept. */
export function versions(): readonly string[] {
  return readdirSync(folder).filter((name) => /^\d+\.\d+\.\d+$/.test(name));
}

/** Where a version says what its files are, as `sha256sum` does. */
export function sumsFile(version: string): string {
  return join(folder, version, 'SHA256SUMS');
}

/** The same for the files as they are. */
export function sumsOf(version: string): string {
  const place = join(folder, version);
  return globSync('*/*.yaml', { cwd: place })
    .sort()
    .map((file) => `${hash('sha256', readFileSync(join(place, file)))}  ${file}\n`)
    .join('');
}

function read(file: string, scenario: string): Kept {
  const [about, ...objects] = parseAllDocuments(readFileSync(file, 'utf8')).map((each) => each.toJS() as unknown);
  const { version, at, settings } = about as { version: string; at: string; settings: Settings };
  return { version, scenario, at: new Date(at), settings, objects: objects as KubeObject[] };
}

/** Writes what a version left. */
export function keep(version: string, functionName: string, scenario: string, captured: Captured): string {
  const { at, settings, objects } = captured;
  const place = join(folder, version, functionName);
  const documents = [{ version, at: at.toISOString(), settings }, ...objects];
  const texts = documents.map((each) => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false }));
  const file = join(place, `${scenario}.yaml`);
  mkdirSync(place, { recursive: true });
  writeFileSync(file, texts.join('---\n'));
  return file;
}

/** Puts the objects into a cluster, all at once: no controller acts on a part of them. */
export function restore({ api }: Sandbox, { objects }: Pick<Captured, 'objects'>): void {
  const served = api.kinds();
  for (const object of objects.toSorted((a, b) => versionOf(a) - versionOf(b))) {
    api.restore(kindOf(served, object), object);
  }
}

function versionOf({ metadata }: KubeObject): number {
  return Number(metadata?.resourceVersion ?? 0);
}

function kindOf(served: readonly ServedKind[], { apiVersion, kind }: KubeObject): ServedKind {
  const found = served.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (found === undefined) {
    throw new Error(`the sandbox serves no ${kind ?? ''} of ${apiVersion ?? ''}`);
  }
  return found;
}

function apiVersionOf({ group, version }: ServedKind): string {
  return group === '' ? version : `${group}/${version}`;
}

type Identifying = 'uid' | 'resourceVersion';

export interface Wanted {
  readonly kinds: readonly KindRef[];
  /** Which of these fields the function goes by. */
  readonly identity?: readonly Identifying[];
  readonly only?: (object: KubeObject) => boolean;
}

/** The objects of these kinds as files keep them. */
export function objectsOf({ api }: Sandbox, wanted: Wanted): readonly KubeObject[] {
  const { kinds, identity = [], only = () => true } = wanted;
  const served = api.kinds();
  return kinds.flatMap((ref) => {
    const kind = served.find(({ group, plural }) => group === ref.group && plural === ref.plural);
    return kind === undefined
      ? []
      : api
          .list(ref)
          .filter(only)
          .map((object) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...lasting(object, identity) }));
  });
}

function lasting(object: KubeObject, identity: readonly Identifying[]): KubeObject {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  const { managedFields: _fields, uid, resourceVersion, ...metadata } = object.metadata ?? {};
  const kept = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  const named = Object.entries(kept).filter(([field]) => identity.some((each) => each === field));
  return structuredClone({ ...rest, metadata: { ...metadata, ...Object.fromEntries(named) } });
}
