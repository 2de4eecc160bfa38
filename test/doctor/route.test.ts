import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { grant } from '../../lib/cli/start/accounts.ts';
import type { Finding } from '../../lib/runtime/doctor/finding.ts';
import type { Definition } from '../../lib/function/definition.ts';
import type { Call } from '../../lib/kube/client.ts';
import type { Manifest } from '../../lib/kube/model/manifest.ts';
import { endpointSlices } from '../../lib/kube/model/resource.ts';
import type { Running } from '../../lib/runtime/main.ts';
import { renderFunction } from '../../lib/install/manifests/function-manifests.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { startSandbox, type Sandbox } from '../../lib/sandbox/sandbox.ts';
import { environmentOf, functionsUnderTest } from '../contract/functions.ts';
import { binaryEvent, send, startApp } from '../support/http.ts';
import { accountAccess } from './account.ts';

const definitions = await functionsUnderTest();
const { namespace } = standardInstallation;
const rights = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);
const group = 'rbac.authorization.k8s.io';

/** What gives the accounts of the function their rights. */
function grantedTo(definition: Definition): readonly Manifest[] {
  return renderFunction(definition).manifests.filter(({ kind }) => rights.has(kind));
}

/** Takes one binding away: a function has one for each place where it has rights. */
async function revoke({ api }: Sandbox, definition: Definition): Promise<void> {
  const [binding] = grantedTo(definition).filter(({ kind }) => kind.endsWith('Binding'));
  if (binding !== undefined) {
    const plural = `${binding.kind.toLowerCase()}s`;
    await api.remove({ group, plural }, binding.metadata);
  }
}

describe.each(definitions.map((definition) => [definition.name, definition] as const))(
  'GET /doctor of %s',
  (name, definition) => {
    let sandbox: Sandbox;
    let app: Running;
    // Young is what began just now, and a test worker may have run other suites before this one.
    let now = new Date(Date.now() - process.uptime() * 1000);
    const calls: Call[] = [];

    beforeAll(async () => {
      sandbox = await startSandbox({ rbac: true, controllers: false });
      await grant(sandbox, grantedTo(definition));
      app = await startApp(definition, {
        access: accountAccess(sandbox, name),
        environment: { ...environmentOf(definition), ROLE: 'events', POD_NAMESPACE: namespace },
        observe: (call) => calls.push(call),
        now: () => now,
      });
    });
    afterAll(async () => {
      await app.close();
      await sandbox.close();
    });

    /** Later than what a process remembers of the last look. */
    async function examine(): Promise<{ status: number; findings: readonly Finding[] }> {
      now = new Date(now.getTime() + 20_000);
      const { status, body } = await send(app.url, { method: 'GET', path: '/doctor?json' });
      return { status, findings: JSON.parse(body) as readonly Finding[] };
    }

    async function stateOf(check: string): Promise<Finding | undefined> {
      return (await examine()).findings.find((finding) => finding.check === check);
    }

    it('finds that its shipped rights are all it needs, and names one that is gone', async () => {
      const before = await stateOf('rights of this account');
      await revoke(sandbox, definition);
      const { status, findings } = await examine();

      expect(before).toMatchObject({
        state: 'ok',
        message: expect.stringMatching(/^all \d+ that it asks for are granted$/),
      });
      expect(status).toBe(503);
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'rights of this account',
          state: 'error',
          message: expect.stringContaining('it may not '),
        }),
      );
    });

    it('waits for ticks for a while, then misses them, and is content once one has come', async () => {
      const young = await stateOf('ticks');
      now = new Date(now.getTime() + 3_600_000);
      const old = await stateOf('ticks');
      await send(app.url, binaryEvent({ type: 'dev.knative.sources.ping' }));

      expect(young).toMatchObject({ state: 'unknown' });
      expect(old).toMatchObject({ state: 'error', fix: expect.stringContaining('PingSource') });
      expect(await stateOf('ticks')).toMatchObject({ state: 'ok', message: 'the last 0 minutes ago' });
    });

    it('says what it can not see, and answers a crowd by one look', async () => {
      expect(await stateOf('sources and triggers')).toMatchObject({ state: 'unknown' });
      const looked = calls.length;
      const { body } = await send(app.url, { method: 'GET', path: '/doctor' });

      expect(body).toMatch(/^FUNCTION +CHECK +STATE +MESSAGE$/m);
      expect(calls.length).toBe(looked);
    });

    if (definition.admit !== undefined) {
      it('misses somebody behind its webhooks', async () => {
        const service = `${name}-webhook`;
        const alone = await stateOf(`replicas of ${service}`);
        await sandbox.api.create(endpointSlices, {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { name: service, namespace, labels: { 'kubernetes.io/service-name': service } },
          addressType: 'IPv4',
          endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
          ports: [{ name: 'https', port: 9443, protocol: 'TCP' }],
        } as object);

        expect(alone).toMatchObject({ state: 'error', message: expect.stringContaining('leads to no ready pod') });
        expect(await stateOf(`replicas of ${service}`)).toMatchObject({ state: 'ok', message: '1 ready' });
      });
    }
  },
);
