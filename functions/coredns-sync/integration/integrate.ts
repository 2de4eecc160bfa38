import type { Context } from '../../../lib/function/definition.ts';
import type { Config } from '../config.ts';
import { customConfigMap } from './detect.ts';
import { digestOf, type Dns } from './dns.ts';
import { planIntegration } from './plan.ts';
import { healsAfter, withoutFailed } from './heals.ts';
import type { Component, DnsFacts, IntegrationStep } from './types.ts';
import { countDrift, showConditions, type Written } from '../metrics.ts';
import { sorted } from '../pass/decision.ts';
import { integrationOptions, type Policy } from '../policy.ts';
import { planPlacedAgain } from '../pass/publish.ts';
import { writeCounted } from '../pass/write.ts';
import { refusedMessage } from '../refused.ts';
import { modeFor } from '../render/rendering.ts';
import type { Host } from '../rule.ts';
import { readState, writeState, type Conditions, type State } from '../state/state.ts';

/** Conditions that full passes decide about; the others are those of CoreDNS and decided here. */
export const passConditions = [
  'Conflict',
  'Forbidden',
  'Full',
  'InvalidRender',
  'KindAbsent',
  'MassRemoval',
  'NamespaceMissing',
  'NewerRelease',
  'RolledBack',
  'RulesRefused',
  'Unsound',
  'Unreadable',
];

/** Gives CoreDNS what it lacks to answer from the rules, within the budget, and writes down what was found. */
export async function integrate(
  context: Context<Config>,
  policy: Policy,
  { dns, hosts }: { readonly dns: Dns; readonly hosts: readonly Host[] },
): Promise<DnsFacts> {
  const integration = planIntegration(dns.objects, integrationOptions(policy), hosts);
  const steps = [...integration.steps, ...(await planPlacedAgain(context, policy, integration.facts))];
  const state = await readState(context);
  const now = context.kube.serverTime() ?? context.now();
  const heals = healsAfter(state, steps, { now, most: context.config.MAX_HEALS_PER_HOUR });
  const permitted = steps.filter(({ component }) => !heals.contended.includes(component));
  const conditions = {
    ...Object.fromEntries(integration.conditions.map(({ type, message }) => [type, message])),
    ...contendedCondition(heals.contended),
    ...forbiddenCondition(dns),
    ...modeCondition(policy, integration.facts, hosts),
    ...reloadCondition(context.config, state),
  };
  const { facts } = integration;
  // Rules in an object of somebody else change with every host, and are looked after whenever it does.
  const isSettled = steps.length === 0 && facts.blocks?.settled !== false && facts.placement.kind === 'own';
  const looked = { ...dns, objects: { ...dns.objects, last: facts } };
  const found = { facts, conditions, seen: isSettled ? digestOf(looked, policy) : undefined };
  await save(context, { ...found, ...heals.state });
  const failures = await mend(context, permitted, async (failed) => {
    await save(context, { ...found, ...withoutFailed(heals.state, state, failed) });
  });
  heals.counted.filter((component) => !(component in failures)).forEach((component) => countDrift(context, component));
  if (Object.keys(failures).length > 0) {
    const kept = withoutFailed(heals.state, state, Object.keys(failures));
    await save(context, {
      ...found,
      conditions: { ...conditions, DnsForbidden: Object.values(failures).join('; ') },
      ...kept,
    });
  }
  return facts;
}

/** Does the steps. Answers with what was refused, by part, which leaves the rules alone; what is in the way of everything is thrown once `undo` has run. */
async function mend(
  context: Context<Config>,
  steps: readonly IntegrationStep[],
  undo: (failed: readonly Component[]) => Promise<void>,
): Promise<Readonly<Partial<Record<Component, string>>>> {
  const failures: Partial<Record<Component, string>> = {};
  for (const [index, { component, step }] of steps.entries()) {
    try {
      await writeCounted(context, writtenBy({ component, step }), [step]);
    } catch (error) {
      const message = refusedMessage(error);
      if (message === undefined) {
        await undo(steps.slice(index).map((each) => each.component));
        throw error;
      }
      failures[component] = message;
    }
  }
  return failures;
}

function writtenBy({ component, step }: IntegrationStep): Written {
  const isCustom = 'name' in step && step.name === customConfigMap;
  return component === 'import_statement' ? (isCustom ? 'custom' : 'corefile') : component;
}

async function save(
  context: Context<Config>,
  { conditions, ...found }: Pick<State, 'facts' | 'seen' | 'conditions' | 'heals' | 'placed'>,
): Promise<void> {
  const state = await readState(context);
  const kept = Object.entries(state.conditions).filter(([type]) => passConditions.includes(type));
  const merged = sorted({ ...Object.fromEntries(kept), ...conditions });
  await writeState(context, state, { ...found, conditions: merged });
  showConditions(context, state.conditions, merged);
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
  if (reload.silent !== undefined) {
    return { ReloadUnknown: reload.silent };
  }
  return reload.failing === true
    ? { ReloadFailed: 'CoreDNS refuses its configuration; it runs with an older one, and would not start with this' }
    : {};
}

function forbiddenCondition({ forbidden }: Dns): Conditions {
  return forbidden.length === 0 ? {} : { DnsForbidden: `may not read ${forbidden.join(', ')}` };
}
