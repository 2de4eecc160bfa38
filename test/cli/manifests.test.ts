import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { findFunctions } from '../../lib/cli/functions.ts';
import { updateManifests } from '../../lib/install/manifests/installations.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import type { WrittenSubscription } from '../../lib/source/branch.ts';
import { runHere, type Ended } from './command.ts';

it('knative/ and deploy/ hold what the definitions ask for', async () => {
  const found = await findFunctions('functions');
  const definitions = found.map(({ definition }) => definition);

  expect(await updateManifests(definitions, { root: '.', check: true })).toEqual([]);
});

describe('npm run manifests', () => {
  let root = '';
  let out = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'manifests-'));
    out = join(root, 'knative');
    await mkdir(out);
  });
  afterEach(() => rm(root, { recursive: true }));

  function run(...args: readonly string[]): Promise<Ended> {
    return runHere(['manifests', '--out', root, ...args]);
  }

  const sample = 'test/functions/host-census';

  it('writes a base per function and one for what they share, and lists them with what was written by hand', async () => {
    await mkdir(join(out, 'shared'));
    await writeFile(join(out, 'shared', 'quota.yaml'), '# by hand\n');

    const written = await run(sample);
    const checked = await run('--check', sample);

    expect(written.code).toBe(0);
    expect(await resourcesOf('knative')).toEqual(expect.arrayContaining(['host-census', 'shared']));
    expect(await resourcesOf('knative/host-census')).toEqual(['function.yaml']);
    expect(await resourcesOf('knative/shared')).toEqual(['broker.yaml', 'quota.yaml', 'shared.yaml']);
    expect(checked).toEqual({ code: 0, output: 'the manifests are up to date\n' });
    const documents = parseAllDocuments(await readFile(join(out, 'host-census/function.yaml'), 'utf8'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('writes a whole installation to the given folder, the namespace and the Broker included', async () => {
    await run();

    expect(await kindsIn('knative/shared/broker.yaml')).toEqual(['Namespace', 'Broker']);
    expect(await kindsIn('deploy/plain/namespace.yaml')).toEqual(['Namespace']);
  });

  async function kindsIn(path: string): Promise<readonly string[]> {
    return (await manifestsIn(path)).map(({ kind }) => kind);
  }

  async function manifestsIn(path: string): Promise<readonly Manifest[]> {
    const documents = parseAllDocuments(await readFile(join(root, path), 'utf8'));
    return documents.map((document) => document.toJS() as Manifest);
  }

  it('keeps the kinds that a function brings apart from it, so that they stay when it goes', async () => {
    await run();

    expect(await resourcesOf('deploy/kinds')).toEqual(['freeze-check.yaml']);
    for (const text of await Promise.all(
      ['knative/freeze-check/function.yaml', 'deploy/plain/freeze-check.yaml'].map((path) =>
        readFile(join(root, path), 'utf8'),
      ),
    )) {
      expect(text).not.toContain('CustomResourceDefinition');
    }
  });

  async function resourcesOf(folder: string): Promise<readonly string[]> {
    const text = await readFile(join(root, folder, 'kustomization.yaml'), 'utf8');
    return (parse(text) as { readonly resources: readonly string[] }).resources;
  }

  it('writes the same for Kubernetes alone: Deployments, and one source that knows what each function watches', async () => {
    await run(sample);

    const text = await readFile(join(root, 'deploy/plain/host-census.yaml'), 'utf8');
    expect(text).not.toContain('knative.dev');
    const own = await subscriptionOf('host-census');
    expect(own).toMatchObject({ sink: 'http://host-census.kube-reflex.svc', tick: '*/5 * * * *' });
    expect(own?.watches[0]).toMatchObject({ mode: 'Reference', scope: 'cluster', resource: { plural: 'ingresses' } });
  });

  async function subscriptionOf(name: string): Promise<WrittenSubscription | undefined> {
    const configMap = (await manifestsIn('deploy/plain/source.yaml')).find(({ kind }) => kind === 'ConfigMap');
    const { 'subscriptions.json': text = '' } = configMap?.['data'] as Readonly<Record<string, string>>;
    return (JSON.parse(text) as WrittenSubscription[]).find((each) => each.name === name);
  }

  it('names what differs, what is missing and what is left over, and changes nothing when it only checks', async () => {
    await run(sample);
    await appendFile(join(out, 'host-census/function.yaml'), '# edited\n');
    await rm(join(out, 'kustomization.yaml'));
    await mkdir(join(out, 'gone'));
    await writeFile(join(out, 'gone/function.yaml'), '# Generated by `npm run manifests`\n');

    const { code, output } = await run('--check', sample);

    expect(code).toBe(1);
    expect(output).toContain('host-census/function.yaml is out of date');
    expect(output).toContain('knative/kustomization.yaml is out of date');
    expect(output).toContain('gone/function.yaml belongs to no function');
    expect(await readFile(join(out, 'host-census/function.yaml'), 'utf8')).toMatch(/# edited\n$/);

    await run(sample);
    expect((await run('--check', sample)).code).toBe(0);
    expect(existsSync(join(out, 'gone'))).toBe(false);
  });

  it('writes everything for the settings that it is given: rights, watches, webhooks and workloads', async () => {
    const { code, output } = await run(
      ...['--set', 'coredns-sync.COREDNS_AUTO_CONFIGURE=true', '--set', 'coredns-sync.WATCH_NAMESPACES=shop'],
      ...['--set', 'freeze-check.EXCLUDED_NAMESPACES=quiet', '--set', 'freeze-check.TLS_SECRET=mine'],
      ...['--set', 'node-affinity-mutate.MANAGED_LABEL=team=shop'],
    );

    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('written') });
    const functions = ['knative/coredns-sync/function.yaml', 'deploy/plain/coredns-sync.yaml'];
    for (const path of [...functions, 'deploy/openfaas/beside/coredns-sync.yaml']) {
      expect(await rulesIn(path, 'kube-system')).toContainEqual(patching);
    }
    for (const path of [...functions, 'deploy/openfaas/stack.yaml']) {
      expect(await readFile(join(root, path), 'utf8')).toMatch(/COREDNS_AUTO_CONFIGURE\n? *(value)?: 'true'/);
    }
    expect(await subscriptionOf('coredns-sync')).toMatchObject({
      watches: [{ scope: { namespaces: ['shop'] } }, {}, {}, {}],
    });
    const sources = (await manifestsIn('knative/coredns-sync/function.yaml')).filter(
      ({ kind }) => kind === 'ApiServerSource',
    );
    expect(sources.map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'kube-system']);
    expect(await webhooksIn('knative/freeze-check/function.yaml')).toContain('"quiet"');
    expect(await webhooksIn('deploy/plain/node-affinity-mutate.yaml')).toContain('"team"');
    expect(await readFile(join(out, 'freeze-check/cert-manager/certificates.yaml'), 'utf8')).toContain(
      'secretName: mine',
    );
  });

  const patching = expect.objectContaining({
    resources: ['deployments'],
    resourceNames: ['coredns'],
    verbs: ['patch'],
  });

  async function rulesIn(path: string, namespace: string): Promise<unknown> {
    const manifests = await manifestsIn(path);
    return manifests.find(({ kind, metadata }) => kind === 'Role' && metadata.namespace === namespace)?.['rules'];
  }

  async function webhooksIn(path: string): Promise<string> {
    const manifests = await manifestsIn(path);
    return JSON.stringify(manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration')));
  }

  it('lets the source that functions share follow their settings, too', async () => {
    await run('--set', 'freeze-check.TLS_MODE=none');

    const shipped = await readFile('knative/shared/shared.yaml', 'utf8');
    const written = await readFile(join(out, 'shared/shared.yaml'), 'utf8');
    expect(shipped).toContain('kind: ValidatingWebhookConfiguration');
    expect(written).not.toContain('kind: ValidatingWebhookConfiguration');
  });

  it('reports settings that differ from those of the files', async () => {
    const setting = ['--set', 'coredns-sync.TOUCH_PODS=true'];
    await run(...setting);

    expect(await run('--check', ...setting)).toEqual({ code: 0, output: 'the manifests are up to date\n' });
    expect(await run('--check')).toMatchObject({
      code: 1,
      output: expect.stringContaining('coredns-sync.yaml is out of'),
    });
  });

  it.each([
    [['--set', 'coredns-sync.COREDNS_AUTO_CONFIGURE=yes'], 'coredns-sync.COREDNS_AUTO_CONFIGURE must be true or false'],
    [['--set', 'coredns-sync.AUTO_CONFIGURE=true'], 'coredns-sync.AUTO_CONFIGURE: there is no such setting'],
    [['--set', 'coredns-sync'], '--set takes FUNCTION.NAME=VALUE, not "coredns-sync"'],
    [['--set', 'coredns-sync.TOUCH_PODS=true', '--out', '.'], '--set needs --out with another folder'],
  ])('writes nothing for %j and says why', async (args, why) => {
    const { code, output } = await run(...args);

    expect(code).toBe(2);
    expect(output).toContain(why);
    expect(existsSync(join(root, 'deploy'))).toBe(false);
  });

  it('never overwrites a file that was written by hand', async () => {
    const mine = join(out, 'host-census/function.yaml');
    await mkdir(join(out, 'host-census'));
    await writeFile(mine, 'kind: Mine\n');

    const { code, output } = await run(sample);

    expect(code).toBe(1);
    expect(output).toContain('written by hand');
    expect(await readFile(mine, 'utf8')).toBe('kind: Mine\n');
    expect(existsSync(join(root, 'deploy'))).toBe(false);
  });
});
