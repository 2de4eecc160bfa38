import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accountAccess, accountsOf, grant } from '../../lib/cli/start/accounts.ts';
import { loadFunction } from '../../lib/cli/functions.ts';
import type { Definition } from '../../lib/function/definition.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { binaryEvent, send, startApp } from '../support/http.ts';
import { borrowCheckout } from './checkout.ts';
import { runHere, type Ended } from './command.ts';

const name = 'key-keeper';
const { namespace } = standardInstallation;

let root = '';
let discard: (() => Promise<void>) | undefined;
let created: Ended;

function create(...args: readonly string[]): Promise<Ended> {
  return runHere(['new', '--root', root, ...args]);
}

beforeAll(async () => {
  ({ root, discard } = await borrowCheckout());
  created = await create(name);
});
afterAll(() => discard?.());

describe('npm run new', () => {
  it('writes the function and its manifests, and says what comes next', async () => {
    expect(created.code).toBe(0);
    expect(created.output).toMatch(/next:\n {2}1\. .*\n {2}2\. .*\n {2}3\. .*\n$/);
    expect((await readdir(join(root, 'functions', name))).sort()).toEqual([
      'README.md',
      'act',
      'conditions.ts',
      'config.ts',
      'index.ts',
      'keys',
      'names.ts',
      'permissions.ts',
      'read',
      'samples.yaml',
      'test',
    ]);
    expect((await readdir(join(root, 'knative'))).sort()).toEqual([name, 'kustomization.yaml', 'shared']);
  });

  it.each([
    ['My-Function', 'is not a name for a function'],
    ['my_function', 'is not a name for a function'],
    ['-dash', 'is not a name for a function'],
    ['../escape', 'is not a name for a function'],
    ['a'.repeat(41), 'at most 40'],
    ['metrics', 'is taken by kube-reflex itself'],
    [name, `functions/${name} exists already`],
  ])('refuses %s: %s', async (wrong, why) => {
    const { code, output } = await create('--', wrong);

    expect(code).toBe(2);
    expect(output).toContain(why);
  });

  it('refuses to guess a name', async () => {
    expect(await create()).toMatchObject({ code: 2, output: expect.stringContaining('it needs NAME') });
  });
});

describe('a new function', () => {
  describe('in a cluster that grants what its manifests ask for', () => {
    let sandbox: Sandbox;
    let definition: Definition;
    let app: Running;

    beforeAll(async () => {
      sandbox = await startSandbox({ rbac: true });
      ({ definition } = await loadFunction(resolve(root, 'functions', name)));
      await grant(sandbox, accountsOf({ definition, settings: {}, namespace }));
      app = await startApp(definition, {
        access: accountAccess(sandbox, { name, namespace }),
        environment: { POD_NAMESPACE: namespace },
      });
    });

    afterAll(async () => {
      await app.close();
      await sandbox.close();
    });

    const label = `${name}.kube-reflex.dev/watch`;
    const annotation = `${name}.kube-reflex.dev/keys`;

    function annotationOf(configMap: string): string | undefined {
      return sandbox.api.get(configMaps, configMap, namespace)?.metadata?.annotations?.[annotation];
    }

    function createConfigMap(configMap: string, labels: Record<string, string>): Promise<unknown> {
      const object = { metadata: { name: configMap, namespace, labels }, data: { size: 'big', colour: 'red' } };
      return sandbox.api.create(configMaps, object);
    }

    function notify(change: string, configMap: string): Promise<unknown> {
      const subject = { kind: 'ConfigMap', apiVersion: 'v1', namespace, name: configMap };
      return send(app.url, binaryEvent({ type: `dev.knative.apiserver.ref.${change}`, ...subject }));
    }

    it('does its work when an event arrives, and takes it back', async () => {
      await createConfigMap('notified', { [label]: 'true' });

      expect(await notify('add', 'notified')).toMatchObject({ status: 204 });
      expect(annotationOf('notified')).toBe('colour,size');

      const { metadata, ...rest } = sandbox.api.get(configMaps, 'notified', namespace) ?? {};
      await sandbox.api.update(configMaps, { ...rest, metadata: { ...metadata, labels: {} } });

      expect(await notify('delete', 'notified')).toMatchObject({ status: 204 });
      expect(annotationOf('notified')).toBeUndefined();
    });

    it('fixes with a tick what no event reported', async () => {
      await createConfigMap('missed', { [label]: 'true' });
      await createConfigMap('other', {});

      expect(await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }))).toMatchObject({ status: 204 });

      expect(annotationOf('missed')).toBe('colour,size');
      expect(annotationOf('other')).toBeUndefined();
    });

    it('finds nothing to do for an object that is gone', async () => {
      expect(await notify('delete', 'never-was')).toMatchObject({ status: 204 });
    });
  });
});
