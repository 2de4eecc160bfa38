import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { examineFunction } from '../../lib/doctor/examine.ts';
import { tableOf, type Finding } from '../../lib/doctor/finding.ts';
import { kubeconfigAccess } from '../../lib/kube/access.ts';
import { createKube, type Kube } from '../../lib/kube/client.ts';
import { customResourceDefinitions, groupVersion, guessedPlural, type Resource } from '../../lib/kube/resource.ts';
import { createTransport, type Transport } from '../../lib/kube/transport.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { knative, renderFunction } from '../../lib/manifests/function-manifests.ts';
import { standardSite, type Manifest } from '../../lib/manifests/manifest.ts';
import { plain, plainSource } from '../../lib/manifests/plain.ts';
import { renderShared } from '../../lib/manifests/shared.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { issueAuthority, issueLeaf } from '../../lib/x509.ts';
import definition from '../functions/host-census/index.ts';
import { runNode } from './command.ts';

const { namespace } = standardSite;
let sandbox: Sandbox;
let transport: Transport;
let kube: Kube;

beforeEach(async () => {
  sandbox = await startSandbox({ rbac: true, controllers: false });
  transport = createTransport(kubeconfigAccess(JSON.stringify(sandbox.kubeconfig)));
  const log = pino({ level: 'silent' });
  kube = createKube({ transport, log, fieldManager: 'test', now: () => new Date() });
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

afterEach(async () => {
  transport.close();
  await sandbox.close();
});

function resourceOf({ apiVersion, kind, metadata }: Manifest): Resource {
  const place = { kind, plural: guessedPlural(kind), namespaced: metadata.namespace !== undefined };
  return { ...groupVersion(apiVersion), ...place };
}

async function apply(object: Manifest, subresource?: 'status'): Promise<void> {
  const step = { do: 'apply', resource: resourceOf(object), object: object as KubeObject, why: 'test' } as const;
  await kube.run({ steps: [{ ...step, force: true, ...(subresource === undefined ? {} : { subresource }) }] });
}

async function remove({ kind, name }: { readonly kind: string; readonly name: string }): Promise<void> {
  const manifest = installed().find((each) => each.kind === kind && each.metadata.name === name);
  const resource = resourceOf(manifest ?? { apiVersion: '', kind, metadata: { name } });
  const found = await kube.get(resource, manifest?.metadata ?? { name });
  const uid = found?.metadata?.uid ?? '';
  await kube.run({ steps: [{ do: 'delete', resource, name, namespace, uid, why: 'test' }] });
}

function installed(): readonly Manifest[] {
  return renderFunction(definition, standardSite, { platform: plain }).manifests;
}

/** As an installation that works: what controllers and the function itself would have added is there. */
async function install(manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    await apply(manifest);
    const type = manifest.kind === 'Deployment' ? 'Available' : 'Ready';
    if (manifest.kind === 'Deployment' || manifest.apiVersion.includes('knative')) {
      const { apiVersion, kind, metadata } = manifest;
      const condition = { type, status: 'True', lastTransitionTime: new Date().toISOString(), reason: '', message: '' };
      await apply({ apiVersion, kind, metadata, status: { conditions: [condition] } }, 'status');
    }
  }
  await apply(behind);
  await certify(await certificates());
}

/** What the controllers write when a replica of the admission half is ready. */
const behind: Manifest = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'host-census-webhook',
    namespace,
    labels: { 'kubernetes.io/service-name': 'host-census-webhook' },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
  ports: [{ name: 'https', port: 9443, protocol: 'TCP' }],
};

interface Certificates {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** What the API server would accept from the webhook. */
async function certificates(): Promise<Certificates> {
  const now = Date.now();
  const validity = { notBefore: new Date(now - 1000), notAfter: new Date(now + 86_400_000) };
  const authority = await issueAuthority('doctor-test', validity);
  const names = { dns: [`host-census-webhook.${namespace}.svc`], ip: [] };
  return { ca: authority.certificate, ...(await issueLeaf(authority, names, validity)) };
}

async function certify({ ca, certificate, key }: Certificates): Promise<void> {
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'host-census-certificates', namespace },
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  });
  for (const configuration of installed().filter(({ kind }) => kind.endsWith('WebhookConfiguration'))) {
    const { webhooks } = configuration as unknown as {
      readonly webhooks: readonly { readonly clientConfig: object }[];
    };
    await apply({
      ...configuration,
      webhooks: webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { ...webhook.clientConfig, caBundle: base64(ca) },
      })),
    });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function problems(): Promise<Finding[]> {
  const findings = await examineFunction(definition, { kube, transport, namespace, now: new Date() });
  return findings.filter(({ state }) => state === 'warning' || state === 'error');
}

it('says that a function is not there, and how to install it', async () => {
  expect(await problems()).toEqual([
    expect.objectContaining({
      check: 'installation',
      fix: expect.stringContaining('kubectl apply -k knative'),
    }),
  ]);
});

describe('of a function on Kubernetes alone', () => {
  beforeEach(() => install([...installed(), ...plainSource([definition])]));

  it('finds nothing to mend when all is well', async () => {
    expect(await problems()).toEqual([]);
  });

  it('names each right that is missing', async () => {
    await remove({ kind: 'ClusterRoleBinding', name: 'kube-reflex-host-census' });

    expect(await problems()).toEqual([
      expect.objectContaining({
        check: 'rights of host-census',
        message: expect.stringContaining('list ingresses.networking.k8s.io'),
      }),
    ]);
  });

  it('tells a certificate that the API server would not accept', async () => {
    const [{ ca }, own] = await Promise.all([certificates(), certificates()]);
    await certify({ ...own, ca });

    const found = await problems();

    expect(found).not.toEqual([]);
    expect(new Set(found.map(({ message }) => message))).toEqual(
      new Set(['no certificate in caBundle vouches for the one in tls.crt']),
    );
  });

  it('tells that nobody answers its webhooks, and what that means', async () => {
    await apply({ ...behind, endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }] });

    expect(await problems()).toEqual([
      expect.objectContaining({
        check: 'replicas of host-census-webhook',
        message: 'the Service leads to no ready pod: everything passes unasked',
      }),
    ]);
  });

  it('tells a source that was generated for other settings', async () => {
    const [source] = plainSource([]).filter(({ kind }) => kind === 'ConfigMap');
    await apply(source ?? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source', namespace } });

    expect(await problems()).toEqual([expect.objectContaining({ check: 'event source' })]);
  });
});

describe('of a function on Knative', () => {
  const shared = renderShared([definition]);
  const manifests = [...renderFunction(definition, standardSite, { platform: knative }).manifests, ...shared];

  beforeEach(async () => {
    for (const crd of standIns(manifests)) {
      await apply(crd);
    }
    await install(manifests);
  });

  it('finds nothing to mend when all is well', async () => {
    expect(await problems()).toEqual([]);
  });

  it('tells a Trigger without delivery settings and one whose filter lets nothing pass', async () => {
    const [trigger] = manifests.filter(({ kind }) => kind === 'Trigger');
    const { delivery: _none, ...spec } = (trigger?.['spec'] ?? {}) as { readonly delivery: unknown };
    await kube.run({
      steps: [
        {
          do: 'patch',
          resource: resourceOf(trigger ?? manifests[0] ?? ({} as Manifest)),
          name: trigger?.metadata.name ?? '',
          namespace,
          operations: [{ op: 'replace', path: '/spec', value: { ...spec, filters: [{ exact: { kind: 'Nothing' } }] } }],
          why: 'test',
        },
      ],
    });

    const check = `Trigger ${trigger?.metadata.name ?? ''}`;
    expect(await problems()).toEqual([
      expect.objectContaining({ check, state: 'error', message: 'spec.filters is not what the function needs' }),
      expect.objectContaining({
        check,
        state: 'warning',
        message: expect.stringContaining('deadLetterSink'),
      }),
    ]);
  });

  it.each([
    { watched: ['Namespace', 'ValidatingWebhookConfiguration'], found: [] },
    { watched: ['Namespace'], found: ['spec.resources is not what the function needs'] },
  ])('is content with a shared source if it watches enough: $watched', async ({ watched, found }) => {
    const [source] = shared.filter(({ kind }) => kind === 'ApiServerSource');
    const groups: Readonly<Record<string, string>> = { Namespace: 'v1' };
    const resources = watched.map((kind) => ({ apiVersion: groups[kind] ?? 'admissionregistration.k8s.io/v1', kind }));
    await apply({
      ...(source ?? manifests[0] ?? ({} as Manifest)),
      spec: { ...(source?.['spec'] as object), resources },
    });

    expect((await problems()).map(({ message }) => message)).toEqual(found);
  });

  it('gives the reason why a source is not ready', async () => {
    const [source] = manifests.filter(({ kind }) => kind === 'ApiServerSource');
    const { apiVersion, kind, metadata } = source ?? manifests[0] ?? ({} as Manifest);
    const condition = { type: 'Ready', status: 'False', reason: 'NotFound', message: 'no such Broker' };
    await apply({ apiVersion, kind, metadata, status: { conditions: [condition] } }, 'status');

    expect(await problems()).toEqual([
      expect.objectContaining({
        check: `ApiServerSource ${metadata.name}`,
        message: 'it is not Ready: NotFound, no such Broker',
      }),
    ]);
  });
});

/** Knative's kinds, as loose as can be. */
function standIns(manifests: readonly Manifest[]): Manifest[] {
  const kinds = new Map(
    manifests.filter(({ apiVersion }) => apiVersion.includes('knative')).map((each) => [each.kind, each]),
  );
  return [...kinds.values()].map((manifest) => {
    const { group, version, kind, plural } = resourceOf(manifest);
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: customResourceDefinitions.kind,
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural },
        versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
      },
    };
  });
}

describe('npm run doctor', () => {
  it('prints a table, says what to do and exits with 1', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'doctor-'));
    const file = join(directory, 'kubeconfig');
    await writeFile(file, JSON.stringify(sandbox.kubeconfig));

    const { code, output } = await runNode(['lib/cli/doctor.ts', '--kubeconfig', file]);
    await rm(directory, { recursive: true });

    expect(code).toBe(1);
    expect(output).toMatch(/^FUNCTION +CHECK +STATE +MESSAGE$/m);
    expect(output).toMatch(/ installation +error +there is no Knative Service and no Deployment /);
    expect(output).toContain('→ kubectl apply -k knative');
  });

  it('says with 2 that it found no cluster', async () => {
    const { code, output } = await runNode(['lib/cli/doctor.ts', '--kubeconfig', '/nowhere/kubeconfig']);

    expect(code).toBe(2);
    expect(output).toContain('doctor: ');
  });
});

it('aligns its columns', () => {
  const findings: Finding[] = [
    { function: 'a', check: 'long check', state: 'ok', message: 'fine' },
    { function: 'longer', check: 'b', state: 'error', message: 'broken', fix: 'mend it' },
  ];

  expect(tableOf(findings)).toBe(
    [
      'FUNCTION  CHECK       STATE  MESSAGE',
      'a         long check  ok     fine',
      'longer    b           error  broken',
      `${' '.repeat(29)}→ mend it`,
    ].join('\n'),
  );
});
