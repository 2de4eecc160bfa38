import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import type { Step } from '../../../lib/kube/model/plan.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { heldApplications, type Application } from './application.ts';
import { beyondRoom, emptyLedger, noting, readLedger, recall, striking } from './ledger.ts';
import { decideHold, type Holder } from './plan.ts';

function freeze(name: string, pauseMode: 'DisableAutoSync' | 'SetEnabledFalse'): Holder {
  const spec = {
    target: { kinds: ['CronJob' as const] },
    rules: { deny: ['ROLL_OUT' as const] },
    behavior: { gitops: { enabled: true, providers: ['argocd' as const], argocd: { pauseMode } } },
  };
  return { kind: 'ChangeFreeze', name, policy: { kind: 'ChangeFreeze', metadata: { name }, spec } };
}

/** What a cluster holds: the Application and, if it was ever made, the ConfigMap. */
interface Stored {
  readonly application: Application;
  readonly book: ConfigMap | undefined;
}

type OwnerReference = NonNullable<NonNullable<KubeObject['metadata']>['ownerReferences']>[number];

/** Where a process dies: after how many of its writes. */
type Death = 0 | 1 | 2 | 3;

/** A pass that ends after so many writes. */
function pass({ application, book }: Stored, holders: readonly Holder[], death: Death): Stored {
  const ledger = readLedger(book);
  const decision = decideHold(heldApplications, application, holders, recall(ledger, application));
  const decisions = decision === undefined ? [] : [decision];
  const noted = death > 0 ? applied(book, noting(ledger, decisions, 'own')) : book;
  const acted = death > 1 ? applied(application, decision?.step) : application;
  const ended = decisions.filter(({ after }) => after === undefined).map(() => 'u');
  const struck = death > 2 ? applied(noted, striking(readLedger(noted), ended, 'own')) : noted;
  return { application: acted, book: struck };
}

/** The object after a step, as the API server would have it. */
function applied<T extends Application | ConfigMap | undefined>(object: T, step: Step | undefined): T {
  if (step?.do === 'create') {
    return { ...step.object, metadata: { ...step.object.metadata, resourceVersion: '1' } } as T;
  }
  const operations = step?.do === 'patch' ? [...step.operations] : [];
  return jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
}

/** As an ApplicationSet that ignores what a freeze changes. */
function stripped({ application, book }: Stored): Stored {
  const { annotations: _annotations, ...metadata } = application.metadata ?? {};
  return { application: { ...application, metadata }, book };
}

const automated = fc.record(
  { prune: fc.boolean(), selfHeal: fc.boolean(), enabled: fc.boolean() },
  { requiredKeys: [] },
);
const syncPolicies = fc.record({ automated, retry: fc.object() }, { requiredKeys: [] });
const policies = [freeze('a', 'SetEnabledFalse'), freeze('b', 'DisableAutoSync')];
const deaths = fc.constantFrom<Death>(0, 1, 2, 3);
const moments = fc.record({ wanting: fc.subarray(policies), death: deaths, strips: fc.boolean() });
const owners = fc.constantFrom<OwnerReference[]>(
  [],
  [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 's', uid: 's' }],
);

describe('what is written down about an Application', () => {
  it('gives back exactly what it was, whoever strips it of its marks and wherever processes die', () => {
    fc.assert(
      fc.property(syncPolicies, owners, fc.array(moments, { maxLength: 8 }), (syncPolicy, ownerReferences, history) => {
        const metadata = { name: 'x', namespace: 'argocd', uid: 'u', resourceVersion: '1', ownerReferences };
        const application: Application = { metadata, spec: { syncPolicy } };

        const held = history.reduce<Stored>(
          (stored, { wanting, death, strips }) => {
            const next = pass(stored, wanting, death);
            return strips ? stripped(next) : next;
          },
          { application, book: undefined },
        );
        const released = pass(held, [], 3);

        expect(released.application).toEqual(application);
        expect(readLedger(released.book).entries.size).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('has room for about three thousand Applications with long names', () => {
    const holder = freeze('end-of-year-change-freeze-of-all-regions', 'DisableAutoSync');
    const syncPolicy = { automated: { prune: true, selfHeal: true } };
    const decisions = Array.from({ length: 6_000 }, (_, index) => {
      const name = `production-eu-central-1-payments-gateway-${index}`;
      const application: Application = {
        metadata: { name, namespace: 'argocd', uid: `u-${index}` },
        spec: { syncPolicy },
      };
      return decideHold(heldApplications, application, [holder]);
    }).filter((decision) => decision !== undefined);

    const beyond = beyondRoom(emptyLedger, decisions);
    const fitting = decisions.filter((decision) => !beyond.has(decision));
    const { data = {} } = applied(undefined as ConfigMap | undefined, noting(emptyLedger, fitting, 'own')) ?? {};
    const bytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

    expect(Math.round(fitting.length / 1_000)).toBe(3);
    expect(bytes).toBeLessThanOrEqual(1_048_576);
    expect(beyondRoom(emptyLedger, fitting).size).toBe(0);
  });
});
