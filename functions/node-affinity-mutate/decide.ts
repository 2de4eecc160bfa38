import type { AddOperation } from 'fast-json-patch';
import { matches } from '../../lib/kube/model/selector.ts';
import type { AdmissionRequest } from '../../lib/kube/model/review.ts';
import { applyRule, endsWith, nearer, noAdditions, rulesFor, type RuleOutcome, type Subject } from './apply.ts';
import type { Knowledge, ReadyRule } from './knowledge.ts';
import { controllerIs, type Candidate } from './match.ts';
import { appliedMark, mirrorAnnotation, skipMark } from './names.ts';
import { patchOf } from './patch.ts';
import { isNameBound, placementOf } from './placement.ts';
import { recordOf, type Fields } from '../../lib/base/json.ts';

/** Why a pod was left as it was, or that it was not. */
export type Reason =
  | 'operation'
  | 'subresource'
  | 'kind'
  | 'no-object'
  | 'omitted-namespace'
  | 'unmanaged-namespace'
  | 'opted-out'
  | 'already-scheduled'
  | 'mirror-pod'
  | 'unexpected-shape'
  | 'pinned'
  | 'no-rule'
  | 'pool-absent'
  | 'already-present'
  | 'mutated';

export interface Decision {
  readonly reason: Reason;
  /** The rules that change the pod. */
  readonly rules: readonly string[];
  readonly patch: readonly AddOperation<unknown>[];
}

/** A request of which nothing is taken for granted. */
export type Asked = Readonly<Partial<Record<keyof AdmissionRequest, unknown>>>;

/** What to do with a pod that is about to be created. The first reason to leave it alone wins. */
export function decide(request: Asked, knowledge: Knowledge): Decision {
  const pod = recordOf(request.object);
  const foreign = notAPod(request, pod);
  if (foreign !== undefined || pod === undefined) {
    return leave(foreign ?? 'no-object');
  }
  return decidePod(pod, typeof request.namespace === 'string' ? request.namespace : '', knowledge);
}

/** The same for a pod that is known to be one. */
export function decidePod(pod: Fields, namespace: string, knowledge: Knowledge): Decision {
  const candidate = candidateOf(pod, namespace, knowledge);
  const leftAlone = outOfBounds(candidate, knowledge) ?? optedOut(candidate) ?? settled(pod, candidate);
  if (leftAlone !== undefined) {
    return leave(leftAlone);
  }
  const subject = subjectOf(pod, candidate);
  if (subject === undefined) {
    return leave('unexpected-shape');
  }
  return subject.pinned && knowledge.skipPinned ? leave('pinned') : applyRules(candidate, subject, knowledge);
}

export function candidateOf(pod: Fields, namespace: string, { namespaces }: Knowledge): Candidate {
  return { namespace, facts: namespaces.get(namespace), metadata: recordOf(pod['metadata']) ?? {} };
}

/** `undefined` where the pod is not of the shape that the API server expects. */
export function subjectOf(pod: Fields, { metadata }: Candidate): Subject | undefined {
  const placement = placementOf(pod);
  if (placement === undefined) {
    return undefined;
  }
  const pinned = controllerIs(metadata, (kind) => kind === 'DaemonSet') || isNameBound(placement);
  return { placement, pinned };
}

function leave(reason: Reason): Decision {
  return { reason, rules: [], patch: [] };
}

function notAPod({ operation, subResource, kind, resource }: Asked, pod: Fields | undefined): Reason | undefined {
  if (operation !== 'CREATE') {
    return 'operation';
  }
  if (subResource !== undefined && subResource !== '') {
    return 'subresource';
  }
  if (!isPodKind(recordOf(kind)) || recordOf(resource)?.['resource'] !== 'pods') {
    return 'kind';
  }
  return pod === undefined ? 'no-object' : undefined;
}

function isPodKind(kind: Fields | undefined): boolean {
  return kind?.['group'] === '' && kind['version'] === 'v1' && kind['kind'] === 'Pod';
}

/** A namespace that nobody has told us about yet has passed the selector of the webhook, and is believed. */
function outOfBounds({ namespace, facts }: Candidate, { omitted, gate }: Knowledge): Reason | undefined {
  if (omitted.has(namespace)) {
    return 'omitted-namespace';
  }
  return facts === undefined || matches(gate, facts.labels) ? undefined : 'unmanaged-namespace';
}

function optedOut({ facts, metadata }: Candidate): Reason | undefined {
  const asks =
    facts?.skip === true ||
    recordOf(metadata['annotations'])?.[skipMark] === 'true' ||
    recordOf(metadata['labels'])?.[skipMark] === 'true';
  return asks ? 'opted-out' : undefined;
}

/** Where the pod runs is decided already. */
function settled(pod: Fields, { metadata }: Candidate): Reason | undefined {
  const nodeName = recordOf(pod['spec'])?.['nodeName'];
  if (typeof nodeName === 'string' && nodeName !== '') {
    return 'already-scheduled';
  }
  return recordOf(metadata['annotations'])?.[mirrorAnnotation] === undefined ? undefined : 'mirror-pod';
}

function applyRules(candidate: Candidate, subject: Subject, knowledge: Knowledge): Decision {
  const additions = noAdditions();
  const applied: ReadyRule[] = [];
  let nearest: RuleOutcome | undefined;
  for (const ready of rulesFor(candidate, knowledge)) {
    if (ready.mismatch(candidate) !== undefined) {
      continue;
    }
    const outcome = applyRule(ready, subject, additions);
    nearest = nearer(outcome, nearest);
    if (outcome === 'applied') {
      applied.push(ready);
    }
    if (endsWith(ready, outcome)) {
      break;
    }
  }
  if (applied.length > 0 && knowledge.annotate) {
    additions.annotations[appliedMark] = `${applied.map(({ says }) => says).join('; ')}; config ${knowledge.hash}`;
  }
  return {
    reason: nearest === 'applied' ? 'mutated' : (nearest ?? 'no-rule'),
    rules: applied.map(({ rule }) => rule.name),
    patch: patchOf(subject.placement, additions),
  };
}
