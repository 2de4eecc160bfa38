import type { Registry } from 'prom-client';
import { conditionsOf } from '../../function/conditions.ts';
import type { Context, Definition, Route } from '../../function/definition.ts';
import type { Permission } from '../../function/permissions.ts';
import { memoryKey } from '../../function/memory.ts';
import { standardScaling } from '../../function/scaling.ts';
import type { FunctionSettings } from '../../function/settings.ts';
import { standingFindings } from './conditions.ts';
import { isHealthy, tableOf, type Finding, type Found } from './finding.ts';
import { checkOwnRights } from './own-rights.ts';
import { examinePulse, vitalsOf } from './pulse.ts';
import { checkWebhooks } from './webhooks.ts';

/** The process that looks at itself. */
export interface Self<C> {
  readonly definition: Definition<C>;
  readonly role: FunctionSettings['ROLE'];
  readonly registry: Registry;
}

/** Repeated requests get the same answer: senders are unknown, and an examination costs a call for each right. */
const freshMs = 15_000;

interface Memory {
  at: number;
  findings: Promise<readonly Finding[]> | undefined;
}

const recentFindings = memoryKey<Memory>(() => ({ at: 0, findings: undefined }));

/** `GET /doctor`: what a function can find out about itself with the rights that it has. 503 when something is wrong. */
export function doctorRoute<C>(self: Self<C>): Route<C> {
  return {
    method: 'GET',
    path: '/doctor',
    handle: async ({ query }, context) => {
      const findings = await recent(self, context);
      const status = isHealthy(findings) ? 200 : 503;
      return { status, body: query.has('json') ? findings : `${tableOf(findings)}\n` };
    },
  };
}

function recent<C>(self: Self<C>, context: Context<C>): Promise<readonly Finding[]> {
  const memory = context.memory(recentFindings);
  const now = context.now().getTime();
  if (memory.findings === undefined || now - memory.at >= freshMs) {
    memory.at = now;
    memory.findings = examineSelf(self, context);
    memory.findings.catch(() => (memory.findings = undefined));
  }
  return memory.findings;
}

async function examineSelf<C>({ definition, role, registry }: Self<C>, context: Context<C>): Promise<Finding[]> {
  const { config, kube, namespace, now } = context;
  const { name } = definition;
  const permissions = definition.permissions?.(config, context) ?? [];
  const admit = definition.admit?.(config, context) ?? [];
  const found = await Promise.all([
    checkOwnRights(permissions.filter(isFor(role)), { kube, namespace }),
    checkWebhooks({ name, admit, config }, { kube, namespace, now: now() }),
    role === 'admission' ? Promise.resolve([]) : checkPulse(definition, { registry, now: now() }),
  ]);
  const standing = standingFindings(context.conditions.standing(), conditionsOf(definition));
  return [...standing, ...found.flat(), beyondSight].map((each) => ({ function: name, ...each }));
}

/** Another process may get what this one waits for, where the platform starts more than one. */
async function checkPulse<C>(
  { name, tick, scaling }: Definition<C>,
  { registry, now }: { readonly registry: Registry; readonly now: Date },
): Promise<Found[]> {
  const vitals = vitalsOf(await registry.metrics(), { name, who: 'this process' });
  const { maxScale: sharing } = { ...standardScaling, ...scaling };
  return vitals === undefined ? [] : examinePulse([vitals], { schedule: tick?.schedule, now, sharing });
}

function isFor(role: FunctionSettings['ROLE']): (permission: Permission) => boolean {
  return (permission) => role === 'all' || permission.role === undefined || permission.role === role;
}

/** A function needs no right to look at what wakes it, so it has none. */
const beyondSight: Found = {
  check: 'sources and triggers',
  state: 'unknown',
  message: 'a function has no right to look at them',
  fix: 'npx kube-reflex doctor, as somebody who may',
};
