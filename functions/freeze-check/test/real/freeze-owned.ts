import type { Application } from '../../hold/application.ts';
import type { Body, Client } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { application } from '../objects.ts';
import { lasting } from '../world.ts';
import { argoPaths } from '../../../../test/real/support/argo-cd.ts';

/** An Application of an ApplicationSet that ignores what a freeze changes in its Applications. */
export interface OwnedApplication {
  readonly made: object;
  readonly now: () => Promise<object>;
  readonly isPaused: () => Promise<boolean>;
  /** Takes away the annotations that the set does not know, as its controller does at each of its looks. */
  readonly strip: () => Promise<void>;
}

export async function makeOwnedApplication(client: Client): Promise<OwnedApplication> {
  const path = `${argoPaths.applications}/owned`;
  const { metadata, spec } = application('owned', { prune: true, selfHeal: true });
  const set = expectCode(201, await client.call('POST', argoPaths.sets, { body: setOf(spec) }));
  const ownerReferences = [
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: set.metadata?.uid ?? '' },
  ];
  const body = { ...argo, kind: 'Application', metadata: { ...metadata, ownerReferences }, spec };
  const made = expectCode(201, await client.call('POST', argoPaths.applications, { body }));

  async function read(): Promise<Body> {
    return expectCode(200, await client.call('GET', path));
  }

  return {
    made: lasting(made),
    now: async () => lasting(await read()),
    isPaused: async () => ((await read()) as Application).spec?.syncPolicy?.automated === undefined,
    strip: async () => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      expectCode(200, await client.call('PATCH', path, { body: { metadata: { annotations: null } }, headers }));
    },
  };
}

const argo = { apiVersion: 'argoproj.io/v1alpha1' };

function setOf(spec: Application['spec']): object {
  return {
    ...argo,
    kind: 'ApplicationSet',
    metadata: { name: 'fleet', namespace: 'argocd' },
    spec: {
      generators: [{ list: { elements: [{}] } }],
      ignoreApplicationDifferences: [{ jsonPointers: ['/spec/syncPolicy/automated'] }],
      template: { metadata: { name: 'owned' }, spec },
    },
  };
}
