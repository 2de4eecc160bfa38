import type { Context } from '../../lib/function/define.ts';
import { Refusal } from '../../lib/kube/refusal.ts';
import type { Config } from './config.ts';
import type { Dns } from './dns.ts';
import { planIntegration } from './integration.ts';
import type { Component, DnsFacts, Integration } from './integration/types.ts';
import { countDrift, showConditions } from './metrics.ts';
import { memoryOf } from './memory.ts';
import { sorted } from './pass.ts';
import { integrationOptions, type Policy } from './policy.ts';
import { modeFor } from './rendering.ts';
import type { Host } from './rule.ts';
import { readState, writeState, type Conditions, type State } from './state.ts';

/** Conditions that full passes decide about; the others are those of CoreDNS and decided here. */
export const passConditions = [
  'Conflict',
  'Forbidden',
  'Full',
  'InvalidRender',
  'KindAbsent',
  'MassRemoval',
  'NewerRelease',
  'RolledBack',
  'Unsound',
  'Unreadable',
];

const hourMs = 3_600_000;

/** Gives CoreDNS what it lacks to answer from the rules, within the budget, and writes down what was found. */
export async function integrate(
  context: Context<Config>,
  policy: Policy,
  { dns, hosts }: { readonly dns: Dns; readonly hosts: readonly Host[] },
): Promise<DnsFacts> {
  const integration = planIntegration(dns.objects, integrationOptions(policy), hosts);
  const state = await readState(context);
  const now = context.kube.serverTime() ?? context.now();
  const heals = healsAfter(state, integration, { now, most: context.config.MAX_HEALS_PER_HOUR });
  const failures: Record<string, string> = {};
  const permitted = integration.steps.filter(({ component }) => !heals.contended.includes(component));
  const conditions = {
    ...Object.fromEntries(integration.conditions.map(({ type, message }) => [type, message])),
    ...contendedCondition(heals.contended),
    ...forbiddenCondition(dns),
    ...modeCondition(policy, integration.facts, hosts),
    ...reloadCondition(context.config, state),
  };
  await save(context, { facts: integration.facts, heals: heals.times, conditions });
  for (const { component, step } of permitted) {
    await context.kube.run({ steps: [step] }).catch((error: unknown) => {
      failures[component] = refusedMessage(error);
    });
    if (heals.counted.includes(component)) {
      countDrift(context, component);
    }
  }
  if (Object.keys(failures).length > 0) {
    const message = Object.values(failures).join('; ');
    await save(context, {
      facts: integration.facts,
      heals: heals.times,
      conditions: { ...conditions, DnsForbidden: message },
    });
  }
  return integration.facts;
}

interface Heals {
  readonly times: State['heals'];
  /** Parts that somebody else keeps undoing. */
  readonly contended: readonly Component[];
  /** Parts that were in place before and are mended now. */
  readonly counted: readonly Component[];
}

/**
 * A part that was in place and is not any more was undone by somebody: that is mended so often within an hour, and then left,
 * since fighting another manager would roll out DNS for ever. A part that has a list, even an empty one, was in place.
 */
function healsAfter(
  { heals }: State,
  { facts, steps }: Integration,
  { now, most }: { readonly now: Date; readonly most: number },
): Heals {
  const recent = Object.fromEntries(
    Object.entries(heals).map(([part, times]) => [part, times.filter((at) => now.getTime() - Date.parse(at) < hourMs)]),
  );
  const due = [...new Set(steps.map(({ component }) => component))];
  const undone = due.filter((component) => recent[component] !== undefined);
  const contended = undone.filter((component) => (recent[component] ?? []).length >= most);
  const counted = undone.filter((component) => !contended.includes(component));
  const placed = [...placedParts(facts), ...due.filter((component) => !contended.includes(component))];
  const times = Object.fromEntries(
    [...new Set([...Object.keys(recent), ...placed])]
      .sort()
      .map((part) => [
        part,
        [...(recent[part] ?? []), ...(counted.some((component) => component === part) ? [now.toISOString()] : [])],
      ]),
  );
  return { times, contended, counted };
}

function placedParts({ imported, mount, placement }: DnsFacts): readonly Component[] {
  return [
    ...(imported && placement.kind === 'own' ? (['import_statement'] as const) : []),
    ...(mount ? (['volume_mount'] as const) : []),
  ];
}

async function save(
  context: Context<Config>,
  {
    facts,
    heals,
    conditions,
  }: { readonly facts: DnsFacts; readonly heals: State['heals']; readonly conditions: Conditions },
): Promise<void> {
  const state = await readState(context);
  const kept = Object.entries(state.conditions).filter(([type]) => passConditions.includes(type));
  const merged = sorted({ ...Object.fromEntries(kept), ...conditions });
  await writeState(context, state, { facts, heals, conditions: merged });
  showConditions(context, state.conditions, merged);
  const { known } = memoryOf(context);
  memoryOf(context).known = known === undefined ? undefined : { ...known, facts };
}

function contendedCondition(components: readonly Component[]): Conditions {
  const message = `somebody keeps undoing ${components.join(', ')}; mended again when an hour has fewer repairs`;
  return components.length === 0 ? {} : { Contended: message };
}

/** The wanted mode is not possible here, or not yet. */
function modeCondition(policy: Policy, facts: DnsFacts, hosts: readonly Host[]): Conditions {
  const { why } = modeFor(policy, facts, { shards: 1, hosts });
  return why === undefined ? {} : { RenderMode: `${why}; rules are written as templates` };
}

/** Of failures that the rules are not to blame for: they were taken before, or nothing better is known. */
function reloadCondition({ VERIFY_RELOAD }: Config, { reload }: State): Conditions {
  if (!VERIFY_RELOAD || reload === undefined) {
    return {};
  }
  if (reload.silent === true) {
    return {
      ReloadUnknown: 'no pod of CoreDNS tells of its reloads; prometheus must listen on the address of the pod',
    };
  }
  return reload.failing === true
    ? { ReloadFailed: 'CoreDNS refuses its configuration; it runs with an older one, and would not start with this' }
    : {};
}

function forbiddenCondition({ forbidden }: Dns): Conditions {
  return forbidden.length === 0 ? {} : { DnsForbidden: `may not read ${forbidden.join(', ')}` };
}

/** A refusal of a Corefile or Deployment leaves the rules alone; what is in the way of everything is thrown on. */
function refusedMessage(error: unknown): string {
  if (error instanceof Refusal && (error.code === 403 || error.kind === 'impossible')) {
    return error.message;
  }
  throw error;
}
