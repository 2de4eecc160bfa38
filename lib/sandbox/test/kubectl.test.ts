import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hasKubectl, type Kubectl, openKubectl } from './kubectl.ts';
import { type Sandbox, startSandbox } from '../sandbox.ts';

/** Without kubectl these are reported as skipped; where CI runs, that must not pass for success. */
const scripted = hasKubectl || process.env['CI'] === 'true' ? it : it.skip;

let sandbox: Sandbox;
let program: Kubectl;

beforeAll(async () => {
  sandbox = await startSandbox({ podReadyMs: 20 });
  program = await openKubectl(sandbox.kubeconfig);
});

afterAll(async () => {
  await program.close();
  await sandbox.close();
});

function kubectl(line: string, input = ''): Promise<string> {
  return program.run(line, input);
}

function tryKubectl(line: string, input = ''): ReturnType<Kubectl['attempt']> {
  return program.attempt(line, input);
}

function deployment(name: string, image = 'example.test/web:1'): string {
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
      },
    },
  });
}

describe('kubectl against the sandbox', () => {
  scripted('applies from the client, and says when nothing changed', async () => {
    expect(await kubectl('apply -f -', deployment('client'))).toBe('deployment.apps/client created\n');
    expect(await kubectl('apply -f -', deployment('client'))).toBe('deployment.apps/client unchanged\n');
    expect(await kubectl('apply -f -', deployment('client', 'example.test/web:2'))).toBe(
      'deployment.apps/client configured\n',
    );
  });

  scripted('applies from the server, refuses what another manager owns, and takes it by force', async () => {
    const other = '--server-side --field-manager=other';
    expect(await kubectl('apply --server-side -f -', deployment('server'))).toContain('serverside-applied');

    const refused = await tryKubectl(`apply ${other} -f -`, deployment('server', 'example.test/web:2'));
    const forced = await kubectl(`apply ${other} --force-conflicts -f -`, deployment('server', 'example.test/web:2'));

    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain('.spec.template.spec.containers[name="web"].image');
    expect(forced).toContain('serverside-applied');
  });

  scripted('refuses unknown fields', async () => {
    const misspelt = deployment('misspelt').replace('"replicas"', '"replicaz"');

    const { code, output } = await tryKubectl('apply -f -', misspelt);

    expect(code).not.toBe(0);
    expect(output).toContain('unknown field "spec.replicaz"');
  });

  scripted('shows differences, from the client and from the server', async () => {
    await kubectl('apply -f -', deployment('differs'));

    const client = await tryKubectl('diff -f -', deployment('differs', 'example.test/web:2'));
    const server = await tryKubectl(
      'diff --server-side --force-conflicts -f -',
      deployment('differs', 'example.test/web:2'),
    );
    const none = await tryKubectl('diff -f -', deployment('differs'));

    expect([client.code, server.code, none.code]).toEqual([1, 1, 0]);
    expect(client.output).toContain('+      - image: example.test/web:2');
    expect(server.output).toContain('+      - image: example.test/web:2');
  });

  scripted('rolls out, restarts and undoes', async () => {
    await kubectl('apply -f -', deployment('rolls'));

    expect(await kubectl('rollout status deployment/rolls --timeout=2m')).toContain('successfully rolled out');
    expect(await kubectl('rollout restart deployment/rolls')).toContain('restarted');
    expect(await kubectl('rollout status deployment/rolls --timeout=2m')).toContain('successfully rolled out');
    expect(await kubectl('rollout history deployment/rolls')).toMatch(/^1 .*\n2 /m);
    expect(await kubectl('rollout undo deployment/rolls')).toContain('rolled back');
    expect(await kubectl('wait --for=condition=Available deployment/rolls --timeout=2m')).toContain('condition met');
  });

  scripted('prints tables, wide tables, YAML and names', async () => {
    await kubectl('apply -f -', deployment('printed'));
    await kubectl('rollout status deployment/printed --timeout=2m');

    expect(await kubectl('get deployment printed')).toMatch(
      /NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nprinted +2\/2 +2 +2 /,
    );
    expect(await kubectl('get deployment printed -o wide')).toMatch(/web +example.test\/web:1 +app=printed/);
    expect(await kubectl('get pods -l app=printed -o wide')).toMatch(/1\/1 +Running .* sandbox-\d/);
    expect(await kubectl('get deployment printed -o yaml')).toContain('type: RollingUpdate');
    expect(await kubectl('get deployments,configmaps -o name')).toContain('deployment.apps/printed\n');
    expect(await kubectl('get deployment printed -o jsonpath={.spec.replicas}')).toBe('2');
    expect(await kubectl('get nodes')).toMatch(/sandbox-1 +Ready/);
  });

  scripted('describes a deployment and its pods', async () => {
    await kubectl('apply -f -', deployment('described'));
    await kubectl('rollout status deployment/described --timeout=2m');

    const set = await kubectl('describe deployment described');
    const pods = await kubectl('describe pods -l app=described');

    expect(set).toContain('2 desired | 2 updated | 2 total | 2 available | 0 unavailable');
    expect(pods).toContain('Controlled By:  ReplicaSet/described-');
  });

  scripted('watches', async () => {
    const child = program.start('get configmaps --watch-only -o name');
    const lines = createInterface(child.stdout);
    const seen = once(lines, 'line');
    const made = createUntil(seen);

    expect(await seen).toEqual([expect.stringContaining('configmap/watched-')]);
    await made;
    child.kill();
    await once(child, 'close');
  });

  scripted('patches with every type of patch', async () => {
    await kubectl('create configmap patched --from-literal=a=1');

    await kubectl(`patch configmap patched -p '{"data":{"b":"2"}}'`);
    await kubectl(`patch configmap patched --type=merge -p '{"data":{"a":null}}'`);
    await kubectl(`patch configmap patched --type=json -p '[{"op":"add","path":"/data/c","value":"3"}]'`);

    expect(await kubectl('get configmap patched -o jsonpath={.data}')).toBe('{"b":"2","c":"3"}');
  });

  scripted('scales', async () => {
    await kubectl('apply -f -', deployment('scaled'));

    expect(await kubectl('scale deployment scaled --replicas=3')).toContain('scaled');
    expect((await tryKubectl('scale deployment scaled --current-replicas=7 --replicas=1')).code).not.toBe(0);
    expect(await kubectl('get deployment scaled -o jsonpath={.spec.replicas}')).toBe('3');
  });

  scripted('labels, annotates and removes both', async () => {
    await kubectl('create configmap marked');

    await kubectl('label configmap marked tier=front');
    await kubectl('annotate configmap marked note=hello');
    expect(await kubectl('get configmaps -l tier=front -o name')).toBe('configmap/marked\n');
    await kubectl('label configmap marked tier-');
    expect(await kubectl('get configmaps -l tier=front -o name')).toBe('');
    expect((await tryKubectl('annotate configmap marked note=other')).code).not.toBe(0);
  });

  scripted('creates with typed commands, which send protobuf', async () => {
    expect(await kubectl('create namespace typed')).toContain('created');
    expect(await kubectl('create deployment typed -n typed --image=example.test/web --replicas=0')).toContain(
      'created',
    );
    expect(await kubectl('create secret generic typed -n typed --from-literal=key=value')).toContain('created');
    expect(await kubectl('create service clusterip typed -n typed --tcp=80:http')).toContain('created');
    expect(await kubectl('create ingress typed -n typed --rule=a.test/x*=typed:80')).toContain('created');
    expect(await kubectl('get ingress typed -n typed -o jsonpath={.spec.rules[0].host}')).toBe('a.test');
    expect(await kubectl('create token default -n typed')).toMatch(/^\S+\.\S+\.\S+\n?$/);
  });

  scripted('deletes, waits for the end, and empties namespaces', async () => {
    await kubectl('create namespace leaving');
    await kubectl('create configmap leaves -n leaving');

    expect(await kubectl('delete configmap leaves -n leaving')).toContain('deleted');
    expect(await kubectl('delete namespace leaving --timeout=2m')).toContain('deleted');
    expect((await tryKubectl('get namespace leaving')).output).toContain('(NotFound): namespaces "leaving" not found');
  });

  scripted('lists which resources there are', async () => {
    const resources = await kubectl('api-resources');

    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(await kubectl('api-versions')).toContain('networking.k8s.io/v1\n');
    expect(await kubectl('explain deployment.spec.replicas')).toContain('FIELD: replicas <integer>');
    expect(await kubectl('version')).toContain('Server Version: v1.36.3');
  });

  scripted('asks what one may do, and acts as somebody else', async () => {
    expect(await kubectl('auth can-i create pods')).toBe('yes\n');
    expect(await kubectl('auth whoami --as=jane --as-group=testers')).toMatch(/Username +jane\n[^]*testers/);
    await kubectl('create configmap by-jane --as=jane');
    expect(await kubectl('get configmap by-jane -o name --as=jane')).toBe('configmap/by-jane\n');
  });
});

describe('the manifests for clusters without Knative', () => {
  const root = join(import.meta.dirname, '../../..');

  scripted('are applied, found unchanged and deleted by kubectl', async () => {
    await using cluster = await openCluster();
    await cluster.kubectl.run('create namespace istio-system');

    const first = lines(await cluster.kubectl.run(`apply -k ${join(root, 'deploy/plain')}`));
    const second = lines(await cluster.kubectl.run(`apply -k ${join(root, 'deploy/plain')}`));

    expect(first.filter((line) => !line.endsWith(' created'))).toEqual([]);
    expect(second.filter((line) => !line.endsWith(' unchanged') && !isSentAgain(line))).toEqual([]);
    expect(first).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^validatingadmissionpolicybinding\.admissionregistration\.k8s\.io\//),
        expect.stringMatching(/^poddisruptionbudget\.policy\//),
        expect.stringMatching(/^networkpolicy\.networking\.k8s\.io\//),
      ]),
    );
    expect(
      await cluster.kubectl.run(`delete --ignore-not-found --wait=false -k ${join(root, 'deploy/plain')}`),
    ).toContain('deleted');
  });

  scripted('keep policies and their bindings as they are, without effect', async () => {
    await using cluster = await openCluster();

    await cluster.kubectl.run('apply -f -', refusingEverything);
    await cluster.kubectl.run('create configmap allowed');

    expect(await cluster.kubectl.run('get validatingadmissionpolicybindings')).toMatch(
      /NAME +POLICYNAME +.*\nnothing +nothing /,
    );
  });
});

/** A cluster of its own, since webhooks and rights would disturb the other tests. */
async function openCluster(): Promise<AsyncDisposable & { readonly kubectl: Kubectl }> {
  const own = await startSandbox({ rbac: true, podReadyMs: 20 });
  const opened = await openKubectl(own.kubeconfig);
  return {
    kubectl: opened,
    async [Symbol.asyncDispose]() {
      await opened.close();
      await own.close();
    },
  };
}

const registration = 'admissionregistration.k8s.io/v1';

const refusingEverything = [
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'nothing' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      },
      validations: [{ expression: 'false' }],
    },
  },
  {
    apiVersion: registration,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'nothing' },
    spec: { policyName: 'nothing', validationActions: ['Deny'] },
  },
]
  .map((object) => JSON.stringify(object))
  .join('\n');

/** kubectl sends some fields of these in each apply, since it replaces them as a whole. */
function isSentAgain(line: string): boolean {
  return /^(poddisruptionbudget\.policy|validatingadmissionpolicy\.admissionregistration\.k8s\.io)\//.test(line);
}

function lines(text: string): string[] {
  return text.trimEnd().split('\n');
}

/** kubectl does not report when its watch begins, so objects are created until one is seen. */
async function createUntil(seen: Promise<unknown>): Promise<void> {
  const pending = new Set([seen]);
  void seen.then(() => pending.clear());
  for (let number = 1; pending.size > 0; number += 1) {
    await kubectl(`create configmap watched-${number}`);
  }
}
