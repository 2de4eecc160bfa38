import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import corednsSync from '../../functions/coredns-sync/index.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { knService, pairOf } from './kn-service.ts';
import { imagesIn, imagesOfStack, imagesSynced } from './recipe-images.ts';

interface Documented {
  readonly documentation: string;
  readonly flags: readonly string[];
}

/** What the documentation of each tool says about the flags that recipes may use. */
const documented = JSON.parse(readFileSync('test/fixtures/command-flags.json', 'utf8')) as Readonly<
  Record<string, Documented>
>;
const tools = new Set(['kn', 'func', 'faas-cli', 'argocd', 'flux']);

interface Recipe {
  readonly text: string;
  /** The tool and what it is to do, without names and flags. */
  readonly command: string;
  readonly name: string | undefined;
  readonly flags: readonly (readonly [string, string])[];
}

/** What somebody would paste at once. */
interface Block {
  readonly recipes: readonly Recipe[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Every shell block of the file that has a recipe. */
function blocksIn(file: string): readonly Block[] {
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
  return blocks.map(blockOf).filter(({ recipes }) => recipes.length > 0);
}

function blockOf(text: string): Block {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .split(/\n|&&/)
    .map((line) => line.replace(/\s#.*$/, '').trim());
  return {
    recipes: lines
      .map(parse)
      .filter(({ command }) => command.startsWith('kubectl apply') || tools.has(command.split(' ')[0] ?? '')),
    environment: Object.fromEntries(
      lines.filter((line) => line.startsWith('export ')).map((line) => pairOf(line.slice('export '.length))),
    ),
  };
}

function parse(text: string): Recipe {
  const words = (text.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/s, '$1'));
  const known = Object.keys(documented).find((command) => text.startsWith(`${command} `));
  const command = known ?? words.slice(0, 2).join(' ');
  const rest = words.slice(command.split(' ').length);
  const name = rest[0]?.startsWith('-') === true ? undefined : rest[0];
  return { text, command, name, flags: flagsIn(rest.slice(name === undefined ? 0 : 1)) };
}

/** `--flag value`, `--flag=value` or `--flag` alone. */
function flagsIn(words: readonly string[]): [string, string][] {
  const flags: [string, string][] = [];
  for (const word of words) {
    const [, flag, value = ''] = /^--?([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const last = flags.at(-1);
    if (flag !== undefined) {
      flags.push([flag, value]);
    } else if (last !== undefined) {
      last[1] = word;
    }
  }
  return flags;
}

const blocks = ['README.md', 'deploy/openfaas/README.md'].flatMap(blocksIn);
const recipes = blocks.flatMap((block) => block.recipes);

function only(command: string, name?: string): Recipe {
  const found = recipes.find((recipe) => recipe.command === command && (name === undefined || recipe.name === name));
  if (found === undefined) {
    throw new Error(`there is no recipe by ${command}`);
  }
  return found;
}

function valuesOf({ flags }: Recipe, flag: string): readonly string[] {
  return flags.filter(([name]) => name === flag).map(([, value]) => value);
}

function documentsOf(file: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map(
    (document) => document.toJS() as Readonly<Record<string, unknown>>,
  );
}

type Fields = Readonly<Record<string, unknown>>;

interface KnativeService extends Manifest {
  readonly spec: { readonly template: { readonly spec: Fields & { readonly containers: readonly Fields[] } } };
}

/** Without what kn has no flag for: the name of the container, a root that is read only, links that are off anyway. */
function sayable(service: KnativeService): object {
  const { template } = service.spec;
  const { enableServiceLinks: _links, containers, ...spec } = template.spec;
  const sayables = containers.map(({ name: _name, securityContext, ...container }) => {
    const { readOnlyRootFilesystem: _readOnly, ...security } = securityContext as Fields;
    return { ...container, securityContext: security };
  });
  return { ...service, spec: { template: { ...template, spec: { ...spec, containers: sayables } } } };
}

const [, pushed = ''] = /^docker push (\S+)$/m.exec(readFileSync('README.md', 'utf8')) ?? [];

/** What one command runs in the end: a later one may give a workload of an earlier one another image. */
function imagesBy(recipe: Recipe, environment: Block['environment']): Iterable<readonly [string, string]> {
  const file = [...valuesOf(recipe, 'file'), ...valuesOf(recipe, 'yaml'), ...valuesOf(recipe, 'f')][0] ?? '';
  switch (recipe.command) {
    case 'kubectl apply':
      return valuesOf(recipe, 'k').flatMap((folder) => [...imagesIn(folder)]);
    case 'flux create kustomization':
      return valuesOf(recipe, 'path').flatMap((folder) => [...imagesIn(folder)]);
    case 'kn service apply':
    case 'kn service update':
      return valuesOf(recipe, 'image').map((image) => [`Service ${recipe.name ?? ''}`, image] as const);
    case 'argocd app create':
      return imagesSynced(file);
    case 'faas-cli deploy':
      return imagesOfStack(file, environment);
    default:
      return [];
  }
}

/** Every block that runs something, by its last command. */
const running = blocks
  .map(({ recipes: commands, environment }) => {
    const images = new Map(commands.flatMap((recipe) => [...imagesBy(recipe, environment)]));
    return [commands.at(-1)?.text ?? '', images] as const;
  })
  .filter(([, images]) => images.size > 0);

describe('a recipe', () => {
  it('is there for every tool', () => {
    const used = new Set(recipes.map(({ command }) => command.split(' ')[0]));

    expect([...used].sort()).toEqual([...tools, 'kubectl'].sort());
  });

  it.each(recipes.map((recipe) => [recipe.text, recipe] as const))('uses documented flags: %s', (_text, recipe) => {
    const { flags = [], documentation } = documented[recipe.command] ?? {};

    expect(documentation).toMatch(/^https:/);
    expect(recipe.flags.map(([flag]) => flag).filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  it.each(recipes.filter(({ command }) => command === 'kubectl apply').map((recipe) => [recipe.text, recipe] as const))(
    'applies what there is: %s',
    (_text, recipe) => {
      expect(valuesOf(recipe, 'k').filter((folder) => !existsSync(join(folder, 'kustomization.yaml')))).toEqual([]);
    },
  );

  it.each(running)('runs nothing but the image that was pushed: %s', (_last, images) => {
    expect(pushed).not.toBe('');
    expect([...images].filter(([, image]) => image !== pushed)).toEqual([]);
  });

  it('runs something by every tool that installs', () => {
    const used = new Set(running.map(([last]) => last.split(' ')[0]));

    expect([...used].sort()).toEqual(['argocd', 'faas-cli', 'flux', 'kn', 'kubectl']);
  });

  it.each(['argocd-application.yaml', 'argocd-applicationset.yaml', 'flux.yaml'])(
    'of %s runs all functions, of the image that was pushed',
    (file) => {
      const images = imagesSynced(join('deploy/gitops', file));

      expect([...images.keys()]).toEqual(expect.arrayContaining([...imagesIn('knative').keys()]));
      expect(new Set(images.values())).toEqual(new Set([pushed]));
    },
  );

  it('of kn makes the Service that the manifests ship, but for what kn can not say', () => {
    const recipe = only('kn service apply');
    const site = { ...standardInstallation, image: pushed };
    const shipped = renderFunction(corednsSync, site).manifests.find(({ apiVersion }) =>
      apiVersion.startsWith('serving.'),
    );

    expect(knService(recipe.name ?? '', recipe.flags)).toEqual(sayable(shipped as KnativeService));
  });

  it.each(['kube-reflex-kinds', 'kube-reflex'])('of flux makes the Kustomization %s of deploy/gitops', (name) => {
    const recipe = only('flux create kustomization', name);
    const shipped = documentsOf('deploy/gitops/flux.yaml').find(
      ({ kind, metadata }) => kind === 'Kustomization' && (metadata as { readonly name: string }).name === name,
    );
    const [kind, source] = (valuesOf(recipe, 'source')[0] ?? '').split('/');
    const dependsOn = valuesOf(recipe, 'depends-on').map((dependency) => ({ name: dependency }));

    expect(shipped?.['spec']).toEqual({
      interval: valuesOf(recipe, 'interval')[0],
      path: valuesOf(recipe, 'path')[0],
      prune: valuesOf(recipe, 'prune')[0] === 'true',
      wait: valuesOf(recipe, 'wait')[0] === 'true',
      timeout: valuesOf(recipe, 'health-check-timeout')[0],
      sourceRef: { kind, name: source },
      ...(dependsOn.length === 0 ? {} : { dependsOn }),
    });
  });

  it('of flux makes the GitRepository of deploy/gitops', () => {
    const recipe = only('flux create source git', 'kube-reflex');
    const shipped = documentsOf('deploy/gitops/flux.yaml').find(({ kind }) => kind === 'GitRepository');

    expect(shipped?.['spec']).toEqual({
      interval: valuesOf(recipe, 'interval')[0],
      url: valuesOf(recipe, 'url')[0],
      ref: { branch: valuesOf(recipe, 'branch')[0] },
    });
  });

  it.each([
    ['argocd app create', 'file', 'kind', 'Application'],
    ['faas-cli deploy', 'yaml', 'provider', { name: 'openfaas' }],
  ])('of %s names a file of its kind', (command, flag, field, expected) => {
    const documents = documentsOf(valuesOf(only(command), flag)[0] ?? '');

    expect(documents).not.toEqual([]);
    for (const document of documents) {
      expect({ [field]: document[field] }).toMatchObject({ [field]: expected });
    }
  });
});
