import * as z from 'zod/mini';
import type { State } from './state.ts';

const known = z.looseObject({ hash: z.string(), changedAt: z.number() });
const identity = { kind: z.string(), namespace: z.string(), name: z.string(), uid: z.string() };
const standing = { priority: z.number(), isGateway: z.boolean() };
const candidate = z.looseObject({ ...identity, ...standing, reason: z.string(), pods: z.optional(z.number()) });
const inFlight = z.looseObject({
  ...identity,
  ...standing,
  fingerprint: z.string(),
  by: z.string(),
  attempt: z.number(),
  intentAt: z.number(),
  deadline: z.number(),
  pods: z.number(),
  phase: z.enum(['Intent', 'Patched', 'Failed']),
});

/** What the code relies on. Whoever edits the ConfigMap by hand may leave anything there. */
const shapes: Readonly<Record<keyof State, z.ZodMiniType>> = {
  controlPlanes: z.record(z.string(), z.extend(known, { revision: z.string() })),
  meshConfigs: z.record(z.string(), known),
  webhooks: z.record(z.string(), known),
  namespaces: z.record(z.string(), known),
  pending: z.looseObject({
    namespaces: z.optional(z.array(z.string())),
    reasons: z.array(z.string()),
    firstAt: z.number(),
    dueAt: z.number(),
    triggers: z.number(),
    attempts: z.number(),
  }),
  queue: z.looseObject({ configFingerprint: z.string(), items: z.array(candidate) }),
  inflight: z.array(inFlight),
  blocked: z.array(z.looseObject({ ...identity, reason: z.string() })),
  pacing: z.looseObject({ failed: z.array(z.looseObject(identity)) }),
  verified: z.array(z.string()),
  counters: z.record(z.string(), z.number()),
  omitted: z.record(z.string(), z.number()),
};

/** Whether a value can be what the state keeps under a key. */
export function isShaped(key: keyof State, value: unknown): boolean {
  return shapes[key].safeParse(value).success;
}
