import type { Pod } from '../../kube/model/resource.ts';
import { matchesLabelSelector } from '../../kube/model/selector.ts';
import type { KubeObject } from '../../kube/model/wire.ts';
import { bodyOf, type Call, userAgentOf, writeOf } from './call.ts';
import type { Answer } from '../http/respond.ts';
import { timestamp } from '../model/clock.ts';
import { disruptionBudgets, type PodDisruptionBudget } from '../controllers/kinds.ts';
import { disruptionCondition } from '../controllers/disruption-status.ts';
import { hasEnded, isReady, isTerminating } from '../controllers/pod.ts';
import { parseBody } from '../decode/decode.ts';
import { controller } from '../model/internal.ts';
import type { Kind } from '../model/kinds.ts';
import { modify } from '../write/modify.ts';
import { remove } from '../write/remove.ts';
import { ApiError, badRequest, notFound } from '../model/status.ts';
import { objectAt } from '../schema/value.ts';
import { attributes, liveObject, type Write } from '../write/write.ts';
import { parseWriteOptions } from '../decode/write-options.ts';

const evictionBody = { kind: 'Eviction', definition: 'io.k8s.api.policy.v1.Eviction' };

/** Deletes a pod if its disruption budget bears it. */
export async function serveEviction(call: Call): Promise<Answer> {
  const { cluster, request } = call;
  const { name = '', namespace = '' } = request;
  const sent: KubeObject = await parseBody(cluster, await bodyOf(call), evictionBody);
  const options = parseWriteOptions(call.query, 'CreateOptions', { userAgent: userAgentOf(call) });
  assertNamed(sent, name);
  const eviction: KubeObject = { ...sent, metadata: { ...sent.metadata, name, namespace } };
  const write = writeOf(call, options);
  liveObject(cluster, write);
  await cluster.admission.mutate(attributes(write, 'CREATE', { object: eviction }));
  await cluster.admission.validate(attributes(write, 'CREATE', { object: eviction }));
  const pod = liveObject(cluster, write).object as Pod;
  const wanted = objectAt(eviction, 'deleteOptions');
  const dryRun = options.dryRun || Array.isArray(wanted['dryRun']);
  await spend(call, pod, dryRun);
  const { subresource: _eviction, ...plain } = write;
  await remove(cluster, { ...plain, dryRun }, removeOptions(pod, wanted));
  return { code: 201, text: JSON.stringify(success) };
}

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

function assertNamed({ metadata }: KubeObject, name: string): void {
  const said = metadata?.name ?? '';
  if (said !== '' && said !== name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
}

function removeOptions({ metadata }: Pod, wanted: Readonly<Record<string, unknown>>): Parameters<typeof remove>[2] {
  const grace = wanted['gracePeriodSeconds'];
  const { uid = metadata?.uid } = objectAt(wanted, 'preconditions') as { uid?: string };
  return {
    ...(uid !== undefined && { uid }),
    ...(typeof grace === 'number' && { gracePeriodSeconds: grace }),
  };
}

/** Takes one disruption from the budget of the pod. Throws when there is none left. */
async function spend(call: Call, pod: Pod, dryRun: boolean): Promise<void> {
  if (hasEnded(pod) || isTerminating(pod) || pod.status?.phase === 'Pending') {
    return;
  }
  const [budget, ...more] = budgetsOf(call, pod);
  if (budget === undefined) {
    return;
  }
  if (more.length > 0) {
    throw new ApiError(500, {
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
  if (isReady(pod) || !mayGoUnready(budget)) {
    assertBears(budget);
    await writeSpent(call, budget, pod, dryRun);
  }
}

function budgetsOf({ cluster, request }: Call, pod: Pod): readonly PodDisruptionBudget[] {
  const { namespace = '' } = request;
  const all = Array.from(cluster.store.shelf(disruptionBudgets).range({ namespace }), ({ object }) => object);
  return (all as PodDisruptionBudget[]).filter(({ spec }) =>
    matchesLabelSelector(spec?.selector, pod.metadata?.labels ?? {}),
  );
}

/** A pod that is not ready protects nobody, as long as the others are well. */
function mayGoUnready({ spec, status }: PodDisruptionBudget): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

function assertBears(budget: PodDisruptionBudget): void {
  const { name } = nameOf(budget);
  if (isOutdated(budget)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {};
  if (disruptionsAllowed <= 0) {
    const numbers = `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw tooMany(`The disruption budget ${name} ${numbers}`);
  }
}

function isOutdated({ metadata, status }: PodDisruptionBudget): boolean {
  return (status?.observedGeneration ?? 0) < (metadata?.generation ?? 0);
}

function tooMany(message: string, retryAfter?: number): ApiError {
  return new ApiError(429, {
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
      causes: [{ reason: 'DisruptionBudget', message }],
    },
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

async function writeSpent(call: Call, budget: PodDisruptionBudget, pod: Pod, dryRun: boolean): Promise<void> {
  const { cluster } = call;
  const write: Write = {
    kind: budgetKind(call),
    subresource: 'status',
    ...nameOf(budget),
    caller: controller('disruption'),
    manager: 'kube-apiserver',
    dryRun,
    options: {},
    warn: () => undefined,
  };
  await modify(cluster, write, (live) => {
    assertBears(live);
    return spent(live, pod, cluster.clock.now());
  });
}

function nameOf({ metadata }: PodDisruptionBudget): { name: string; namespace: string } {
  return { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' };
}

function budgetKind({ cluster }: Call): Kind {
  const kind = cluster.kinds.preferred(disruptionBudgets);
  if (kind === undefined) {
    throw notFound({ ...disruptionBudgets, name: '' });
  }
  return kind;
}

function spent(budget: PodDisruptionBudget, pod: Pod, now: Date): PodDisruptionBudget {
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  const allowed = disruptionsAllowed - 1;
  return {
    ...budget,
    status: {
      ...budget.status,
      expectedPods,
      currentHealthy,
      desiredHealthy,
      disruptionsAllowed: allowed,
      disruptedPods: { ...budget.status?.disruptedPods, [pod.metadata?.name ?? '']: timestamp(now) },
      conditions: disruptionCondition(budget, allowed, now),
    },
  };
}
