import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** Which image each workload runs, by kind and name. */
export type Images = ReadonlyMap<string, string>;

interface Kustomization {
  readonly resources: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[];
}

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image: string }[] } };
  };
}

/** What `kubectl apply -k` would run, as far as our kustomizations go: resources, and images of another place. */
export function imagesIn(folder: string): Images {
  const { resources, images = [] } = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const found = resources.flatMap((name) => [
    ...(name.endsWith('.yaml') ? imagesOfFile(join(folder, name)) : imagesIn(join(folder, name))),
  ]);
  return new Map(
    found.map(([workload, image]) => {
      const moved = images.find(({ name }) => name === image.split(':', 1)[0]);
      return [workload, moved === undefined ? image : `${moved.newName}:${moved.newTag}`];
    }),
  );
}

function imagesOfFile(file: string): readonly (readonly [string, string])[] {
  const workloads = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Workload);
  return workloads.flatMap(({ kind, metadata, spec }) =>
    (spec?.template?.spec?.containers ?? []).map(({ image }) => [`${kind} ${metadata.name}`, image] as const),
  );
}

/** What `faas-cli deploy` would run: it fills in variables by `envsubst`, with a default after `:-`. */
export function imagesOfStack(file: string, environment: Readonly<Record<string, string>>): Images {
  const text = readFileSync(file, 'utf8').replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_all, name: string, otherwise: string) => environment[name] ?? otherwise,
  );
  const { functions } = parse(text) as { readonly functions: Readonly<Record<string, { readonly image: string }>> };
  return new Map(Object.entries(functions).map(([name, { image }]) => [`function ${name}`, image]));
}

interface Synced {
  readonly path?: string;
  readonly source?: { readonly path: string };
  readonly sources?: readonly { readonly path: string }[];
  readonly template?: { readonly spec: Synced };
}

/** What Argo CD or Flux would run by the objects of a file. */
export function imagesSynced(file: string): Images {
  const objects = parseAllDocuments(readFileSync(file, 'utf8')).map(
    (document) => document.toJS() as { readonly spec: Synced },
  );
  return new Map(objects.flatMap(({ spec }) => foldersOf(spec)).flatMap((folder) => [...imagesIn(folder)]));
}

function foldersOf({ path, source, sources = [], template }: Synced): readonly string[] {
  const own = [...(source === undefined ? [] : [source]), ...sources].map((each) => each.path);
  return [...(path === undefined ? [] : [path]), ...own, ...(template === undefined ? [] : foldersOf(template.spec))];
}
