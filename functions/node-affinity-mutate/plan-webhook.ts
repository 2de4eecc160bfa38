import { isDeepStrictEqual } from 'node:util';
import { pointer, unchanged, type Plan } from '../../lib/kube/model/plan.ts';
import { mutatingWebhooks, type MutatingWebhookConfiguration } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { webhookName } from './names.ts';
import { gateOf, matchConditions, namespaceSelectorOf } from './render-webhook.ts';
import type { State } from './state.ts';

/** Keeps the two fields of our entry that follow from the rules, and touches nothing else. */
export function planWebhook(
  configuration: MutatingWebhookConfiguration | undefined,
  { rules, namespaces }: State,
  { config, namespace }: { readonly config: Config; readonly namespace: string },
): Plan {
  const index = configuration?.webhooks?.findIndex(({ name }) => name === webhookName) ?? -1;
  const entry = configuration?.webhooks?.[index];
  if (configuration === undefined || entry === undefined) {
    return { steps: [], skipped: [`there is no webhook ${webhookName} in ${config.WEBHOOK_CONFIG_NAME}`] };
  }
  const namingPools = [...namespaces].filter(([, { pool }]) => pool !== undefined).map(([name]) => name);
  const wanted = {
    namespaceSelector: namespaceSelectorOf(gateOf(rules, config), [...config.OMIT_NAMESPACES, namespace]),
    matchConditions: matchConditions(rules, config, namingPools.sort()),
  };
  const differing = (['namespaceSelector', 'matchConditions'] as const).filter(
    (field) => !isDeepStrictEqual(entry[field], wanted[field]),
  );
  if (differing.length === 0) {
    return { steps: [] };
  }
  const operations = [
    unchanged(configuration),
    ...differing.map((field) => ({
      op: 'add' as const,
      path: pointer('webhooks', index, field),
      value: wanted[field],
    })),
  ];
  const why = `the rules ask for another ${differing.join(' and ')}`;
  return {
    steps: [{ do: 'patch', resource: mutatingWebhooks, name: config.WEBHOOK_CONFIG_NAME, operations, why }],
  };
}
