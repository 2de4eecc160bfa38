import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Pod } from '../../../lib/kube/model/resource.ts';
import { standardInstallation } from '../../../lib/install/manifests/installation.ts';
import type { Manifest } from '../../../lib/kube/model/manifest.ts';
import { createClient, type Client } from '../../../lib/sandbox/test/contract/client.ts';
import { kustomize } from '../../shipping/kustomize.ts';
import { readAudit, type AuditEvent } from '../parts/audit.ts';
import { usernameOf } from '../support/function.ts';
import { pathOf } from '../../support/manifests.ts';
import { walkPlain, type Walked } from './walk.ts';

const { namespace } = standardInstallation;
const limitSeconds = 300;
const writing = new Set(['create', 'update', 'patch', 'delete']);

describe('deploy/plain on a real API server, by the way of the README', () => {
  const running = new AsyncDisposableStack();
  let walked: Walked;
  let client: Client;
  let shipped: readonly Manifest[];

  beforeAll(
    async () => {
      shipped = await kustomize('deploy/plain');
      walked = running.use(await walkPlain());
      client = running.adopt(createClient(walked.cluster.access), ({ close }) => close());
    },
    2 * limitSeconds * 1000,
  );
  afterAll(() => running.disposeAsync());

  /** What the accounts of the installation did. */
  function own(): readonly AuditEvent[] {
    return readAudit(walked.cluster).filter(({ user }) =>
      user.username.startsWith(`system:serviceaccount:${namespace}:`),
    );
  }

  it('takes no more than five minutes, until the doctor is content and a new Ingress has its rule', () => {
    const seconds = walked.steps.reduce((sum, step) => sum + step.seconds, 0);
    process.stdout.write(`the walk took ${seconds.toFixed(0)} s of ${limitSeconds} s\n`);

    expect(walked.steps.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^docker build /),
      expect.stringMatching(/^docker push /),
      'kubectl apply -k deploy/kinds',
      'kubectl create namespace istio-system',
      'kubectl apply -k deploy/overlay',
      'kubectl -n kube-reflex wait --for=condition=Available --timeout=5m deployment --all',
      'npm run doctor',
      'kubectl create namespace demo',
      expect.stringMatching(/^kubectl -n demo create ingress hello /),
      'its host is among the rules of CoreDNS',
    ]);
    expect(seconds).toBeLessThan(limitSeconds);
  });

  it('runs every Deployment under its shipped account, and none asks for what it may not', () => {
    const accounts = shipped
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata: { name } }) => `system:serviceaccount:${namespace}:${name}`);

    expect([...new Set(own().map(({ user }) => user.username))].sort()).toEqual(accounts.sort());
    expect(own().filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([]);
  });

  it('no object was written by two functions', () => {
    const writers = new Map<string, Set<string>>();
    for (const { user, objectRef } of own().filter(hasWritten)) {
      const object = `${objectRef?.resource} ${objectRef?.namespace ?? ''}/${objectRef?.name}`;
      const account = user.username.replace(/^.*:/, '').replace(/-webhook$/, '');
      writers.set(object, (writers.get(object) ?? new Set()).add(account));
    }

    const functions = new Set([...writers.values()].flatMap((accounts) => [...accounts]));
    expect([...functions].sort()).toEqual(['coredns-sync', 'freeze-check', 'istio-rollout', 'node-affinity-mutate']);
    expect([...writers].filter(([, accounts]) => accounts.size > 1)).toEqual([]);
  });

  it('the source alone watches', () => {
    const watching = own().filter(({ verb }) => verb === 'watch');

    expect(new Set(watching.map(({ user }) => user.username))).toEqual(new Set([usernameOf('source', 'events')]));
  });

  it('every manifest is accepted as it is, without an unknown field or a warning', async () => {
    for (const manifest of shipped) {
      const { code, body, headers } = await client.call('PATCH', pathOf(manifest), {
        body: manifest,
        query: { fieldManager: 'plain', force: true, dryRun: 'All', fieldValidation: 'Strict' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });

      const context = { object: `${manifest.kind} ${manifest.metadata.name}`, message: body['message'] };
      expect({ ...context, accepted: code === 200 || code === 201 }).toEqual({ ...context, accepted: true });
      expect({ ...context, warning: headers['warning'] }).toEqual({ ...context, warning: undefined });
    }
  });

  it('none of its containers has ended by itself', async () => {
    const { body } = await client.call('GET', `/api/v1/namespaces/${namespace}/pods`);
    const restarts = ((body.items ?? []) as Pod[]).flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).map(({ restartCount }) => [metadata?.name, restartCount]),
    );

    expect(restarts.length).toBeGreaterThanOrEqual(shipped.filter(({ kind }) => kind === 'Deployment').length);
    expect(restarts.filter(([, count]) => count !== 0)).toEqual([]);
  });
});

/** What is made without a name in its address can't be somebody else's. Events are for all. */
function hasWritten({ verb, objectRef, responseStatus }: AuditEvent): boolean {
  const { resource, name } = objectRef ?? {};
  return writing.has(verb) && name !== undefined && resource !== 'events' && (responseStatus?.code ?? 500) < 300;
}
