import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import type { Behavior } from '../policy.ts';
import { heldApplications, type Application } from './application.ts';
import { heldCronJobs } from './cron-job.ts';
import { heldHelmReleases, heldKustomizations } from './flux.ts';
import type { HeldKind } from './kind.ts';
import { decideHold, ownerOf, type Holder } from './plan.ts';

const behavior: Behavior = {
  suspendCronJobs: true,
  gitops: { enabled: true, providers: ['argocd', 'flux'], argocd: {}, flux: {} },
};

function freeze(name: string, pauseMode?: 'DisableAutoSync' | 'SetEnabledFalse'): Holder {
  const argocd = pauseMode === undefined ? {} : { pauseMode };
  const spec = {
    target: { kinds: ['CronJob' as const] },
    rules: { deny: ['ROLL_OUT' as const] },
    behavior: { gitops: { enabled: true, providers: ['argocd' as const, 'flux' as const], argocd, flux: {} } },
  };
  return { kind: 'ChangeFreeze', name, policy: { kind: 'ChangeFreeze', metadata: { name }, spec } };
}

function windowNamed(name: string): Holder {
  const spec = {
    timezone: 'UTC',
    mode: 'DenyOutsideWindows' as const,
    windows: [{ name: 'nightly', schedule: '0 22 * * *', duration: '4h' }],
    target: { kinds: ['CronJob' as const] },
    rules: { deny: ['ROLL_OUT' as const] },
    behavior,
  };
  return { kind: 'MaintenanceWindow', name, policy: { kind: 'MaintenanceWindow', metadata: { name }, spec } };
}

/** The object after the step of a pass, as the API server would have it. */
function pass<T extends KubeObject>(kind: HeldKind<T>, object: T, wanting: readonly Holder[]): T {
  const { step } = decideHold(kind, object, wanting) ?? {};
  if (step === undefined) {
    return object;
  }
  const { newDocument } = jsonPatch.applyPatch(structuredClone(object), [...step.operations], true);
  const { metadata } = newDocument;
  return { ...newDocument, metadata: { ...metadata, resourceVersion: `${Number(metadata?.resourceVersion) + 1}` } };
}

function withoutVersion({ metadata, ...rest }: KubeObject): object {
  const { resourceVersion: _version, ...others } = metadata ?? {};
  return { ...rest, metadata: others };
}

const kinds = [heldCronJobs, heldApplications, heldKustomizations, heldHelmReleases] as readonly HeldKind[];

/** Objects as an API server may return them, with annotations of others. */
const annotations = fc.option(fc.dictionary(fc.constantFrom('a', 'b/c', 'x~y'), fc.string(), { minKeys: 1 }), {
  nil: undefined,
});
const automated = fc.record(
  { prune: fc.boolean(), selfHeal: fc.boolean(), enabled: fc.boolean(), allowEmpty: fc.boolean() },
  { requiredKeys: [] },
);
const syncPolicy = fc.option(
  fc.record({ automated, syncOptions: fc.array(fc.string()), retry: fc.object() }, { requiredKeys: [] }),
  { nil: undefined },
);

function object(spec: object, given: Record<string, string> | undefined): KubeObject & { spec: object } {
  const metadata = { name: 'x', namespace: 'prod', uid: 'u', resourceVersion: '1' };
  return { metadata: { ...metadata, ...(given === undefined ? {} : { annotations: given }) }, spec };
}

const subjects = fc.oneof(
  fc.record({ kind: fc.constant(heldCronJobs as HeldKind), suspend: fc.boolean(), annotations }).map((made) => ({
    kind: made.kind,
    object: object({ suspend: made.suspend, schedule: '0 * * * *' }, made.annotations),
  })),
  fc
    .record({
      kind: fc.constantFrom(...([heldKustomizations, heldHelmReleases] as HeldKind[])),
      suspend: fc.constantFrom({}, { suspend: true }),
      annotations,
    })
    .map((made) => ({ kind: made.kind, object: object({ ...made.suspend, interval: '5m' }, made.annotations) })),
  fc.record({ kind: fc.constant(heldApplications as HeldKind), syncPolicy, annotations }).map((made) => ({
    kind: made.kind,
    object: object(made.syncPolicy === undefined ? {} : { syncPolicy: made.syncPolicy }, made.annotations),
  })),
);
const policies = [freeze('a'), freeze('b', 'SetEnabledFalse'), freeze('c', 'DisableAutoSync'), windowNamed('a')];
const histories = fc.array(fc.subarray(policies), { maxLength: 6 });

describe('holding objects still', () => {
  it('plans nothing on its own result', () => {
    fc.assert(
      fc.property(subjects, fc.subarray(policies), ({ kind, object }, wanting) => {
        const after = pass(kind, object, wanting);

        expect(decideHold(kind, after, wanting)?.step).toBeUndefined();
        expect(wanting.length === 0 || kind.isStill(after)).toBe(true);
      }),
    );
  });

  it('FC-65 FC-70 gives back exactly what was there, whichever policies held it in turn', () => {
    fc.assert(
      fc.property(subjects, histories, ({ kind, object }, history) => {
        const held = history.reduce<KubeObject>((current, wanting) => pass(kind, current, wanting), object);

        expect(withoutVersion(pass(kind, held, []))).toEqual(withoutVersion(object));
      }),
    );
  });

  it.each(kinds.map((kind) => [kind.resource.kind, kind] as const))(
    'leaves a %s alone that nobody wants and nobody holds',
    (_name, kind) => {
      expect(decideHold(kind, object({}, { other: 'x' }), [])).toBeUndefined();
    },
  );

  it('FC-65 hands over to the next policy, and does not while the present one still wants it', () => {
    const [a, b, c] = [freeze('a'), freeze('b'), freeze('c')];
    const byB = pass(heldCronJobs as HeldKind, object({ suspend: false }, undefined), [b, c]);

    expect(decideHold(heldCronJobs, byB, [a, b, c])?.step).toBeUndefined();
    const byA = pass(heldCronJobs as HeldKind, byB, [a, c]);
    expect(byA.metadata?.annotations).toEqual({
      'freeze-operator.io/managed-by': 'a',
      'freeze-operator.io/managed-by-kind': 'ChangeFreeze',
      'freeze-operator.io/original-suspend': 'false',
    });
  });

  it('FC-69 keeps a MaintenanceWindow and a ChangeFreeze of the same name apart', () => {
    const held = pass(heldCronJobs as HeldKind, object({ suspend: false }, undefined), [windowNamed('same')]);

    const handed = pass(heldCronJobs as HeldKind, held, [freeze('same')]);

    expect(ownerOf(heldCronJobs, held)).toEqual({ kind: 'MaintenanceWindow', name: 'same' });
    expect(ownerOf(heldCronJobs, handed)).toEqual({ kind: 'ChangeFreeze', name: 'same' });
  });

  it('takes over what kube-freeze-operator marked without a kind, by either kind of that name', () => {
    const marked = { 'freeze-operator.io/managed-by': 'a', 'freeze-operator.io/original-suspend': 'true' };
    const held = object({ suspend: true }, marked);

    expect(decideHold(heldCronJobs, held, [freeze('a')])?.step).toBeUndefined();
    expect(decideHold(heldCronJobs, held, [windowNamed('a')])?.step).toBeUndefined();
    expect(pass(heldCronJobs as HeldKind, held, [])).toMatchObject({ spec: { suspend: true } });
  });

  it.each(['maybe', '', 'TRUE'])('takes a noted suspension of %j for false', (noted) => {
    const marked = { 'freeze-operator.io/managed-by': 'a', 'freeze-operator.io/original-suspend': noted };

    const released = pass(heldCronJobs as HeldKind, object({ suspend: true }, marked), []);

    expect(released).toMatchObject({ spec: { suspend: false } });
    expect(released.metadata).not.toHaveProperty('annotations');
  });

  it('suspends again what somebody started during the freeze, and keeps what was noted', () => {
    const held = pass(heldCronJobs as HeldKind, object({ suspend: true }, undefined), [freeze('a')]);
    const started = { ...held, spec: { suspend: false } };

    const again = pass(heldCronJobs as HeldKind, started, [freeze('a')]);

    expect(again).toMatchObject({ spec: { suspend: true } });
    expect(pass(heldCronJobs as HeldKind, again, [])).toMatchObject({ spec: { suspend: true } });
  });
});

describe('holding Argo CD Applications', () => {
  function application(syncPolicy: object | undefined): Application {
    return object(syncPolicy === undefined ? {} : { syncPolicy }, undefined);
  }

  it('FC-70 notes the former value as JSON and removes it', () => {
    const held = pass(heldApplications, application({ automated: { prune: true }, retry: { limit: 2 } }), [
      freeze('a'),
    ]);

    expect(held.spec).toEqual({ syncPolicy: { retry: { limit: 2 } } });
    expect(held.metadata?.annotations).toEqual({
      'freeze-operator.io/managed': 'true',
      'freeze-operator.io/managed-by-policy': 'a',
      'freeze-operator.io/managed-by-kind': 'ChangeFreeze',
      'freeze-operator.io/original-autosync': '{"prune":true}',
    });
  });

  it('FC-70 notes null for one without autosync', () => {
    const held = pass(heldApplications, application(undefined), [freeze('a')]);

    expect(held.metadata?.annotations?.['freeze-operator.io/original-autosync']).toBe('null');
  });

  it('only turns it off where the policy says SetEnabledFalse', () => {
    const held = pass(heldApplications, application({ automated: { prune: true } }), [freeze('a', 'SetEnabledFalse')]);

    expect(held.spec).toEqual({ syncPolicy: { automated: { prune: true, enabled: false } } });
  });

  it('gives back what somebody wrote during the freeze, since it is the newer wish', () => {
    const held = pass(heldApplications, application(undefined), [freeze('a')]);
    const edited = { ...held, spec: { syncPolicy: { automated: { selfHeal: true } } } };

    const again = pass(heldApplications, edited, [freeze('a')]);

    expect(again.spec).toEqual({ syncPolicy: {} });
    expect(pass(heldApplications, again, []).spec).toEqual({ syncPolicy: { automated: { selfHeal: true } } });
    expect(pass(heldApplications, edited, []).spec).toEqual(edited.spec);
  });

  it('keeps what somebody changed beside the switch that was turned off', () => {
    const held = pass(heldApplications, application({ automated: { prune: true } }), [freeze('a', 'SetEnabledFalse')]);
    const edited = { ...held, spec: { syncPolicy: { automated: { prune: false, enabled: false } } } };

    expect(pass(heldApplications, edited, []).spec).toEqual({ syncPolicy: { automated: { prune: false } } });
  });

  it('puts the value back where its parent has gone', () => {
    const held = pass(heldApplications, application({ automated: {} }), [freeze('a')]);

    expect(pass(heldApplications, { ...held, spec: {} }, []).spec).toEqual({ syncPolicy: { automated: {} } });
  });

  it.each(['{', '[]', '"x"', '7'])('puts back nothing where %s was left in place of what was noted', (noted) => {
    const held = pass(heldApplications, application({ automated: {} }), [freeze('a')]);
    const annotations = { ...held.metadata?.annotations, 'freeze-operator.io/original-autosync': noted };

    const released = pass(heldApplications, { ...held, metadata: { ...held.metadata, annotations } }, []);

    expect(released.spec).toEqual({ syncPolicy: {} });
    expect(released.metadata).not.toHaveProperty('annotations');
  });

  it('names the ApplicationSet that will undo it', () => {
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'fleet', uid: 'u' };

    expect(heldApplications.contestedBy?.({ metadata: { ownerReferences: [owner] } })).toBe('fleet');
    expect(heldApplications.contestedBy?.({ metadata: {} })).toBeUndefined();
  });
});
