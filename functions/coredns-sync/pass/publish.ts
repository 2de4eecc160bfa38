import type { Context } from '../../../lib/function/definition.ts';
import { configMaps, pods } from '../../../lib/kube/model/resource.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import { pointer, type PatchStep } from '../../../lib/kube/model/plan.ts';
import type { Kube, MetadataOnly } from '../../../lib/kube/client.ts';
import { annotationKey } from '../state/annotation.ts';
import type { Config } from '../config.ts';
import { planInline } from '../integration/plan.ts';
import type { DnsFacts, IntegrationStep } from '../integration/types.ts';
import { writeConfigMap } from '../../../lib/kube/model/config-map.ts';
import { integrationOptions, type Policy } from '../policy.ts';
import { raise, refusedMessage } from '../refused.ts';
import type { ShardPlan } from '../shard/plan.ts';
import type { Host } from '../rule.ts';
import { rulesIn } from '../shard/shard.ts';
import { readShards } from '../state/store.ts';
import { writeCounted } from './write.ts';

/** What brings rules back to where they should be already: a write failed, or somebody undid it. */
export async function planPlacedAgain(
  context: Context<Config>,
  policy: Policy,
  facts: DnsFacts,
): Promise<readonly IntegrationStep[]> {
  const placed = facts.placement.kind !== 'own' && integrationOptions(policy).configure;
  const first = placed ? (await readShards(context, policy, [0])).get(0) : undefined;
  return first?.claims === undefined
    ? []
    : planPlaced(context, policy, { facts, hosts: first.claims, rules: rulesIn(first.object, 0, policy) });
}

interface Written {
  readonly facts: DnsFacts | undefined;
  readonly plan: readonly ShardPlan[];
}

/** Brings rules that were just written to CoreDNS, where it does not mount their ConfigMaps itself. */
export async function publish(context: Context<Config>, policy: Policy, { facts, plan }: Written): Promise<void> {
  const first = plan.find(({ shard }) => shard.index === 0)?.content;
  if (facts !== undefined && first !== undefined) {
    const placing = { facts, hosts: first.claims, rules: first.rules };
    await holdingUpNothing(context, () => place(context, policy, placing));
  }
  if (context.config.TOUCH_PODS && plan.some((each) => each.changesRules)) {
    await holdingUpNothing(context, () => touchPods(context));
  }
}

/** What is refused here holds up no rules: it is said, and tried again by the tick. */
async function holdingUpNothing(context: Context<Config>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const message = refusedMessage(error);
    if (message === undefined) {
      throw error;
    }
    await raise(context, { DnsForbidden: message });
  }
}

async function place(context: Context<Config>, policy: Policy, placing: Placing): Promise<void> {
  const steps = await planPlaced(context, policy, placing);
  const what = placing.facts.placement.kind === 'custom' ? 'custom' : 'corefile';
  await writeCounted(
    context,
    what,
    steps.map(({ step }) => step),
  );
}

interface Placing {
  readonly facts: DnsFacts;
  readonly hosts: readonly Host[];
  readonly rules: string;
}

/** Such clusters have one ConfigMap of rules, so the first is all there is. */
async function planPlaced(
  context: Context<Config>,
  policy: Policy,
  { facts, hosts, rules }: Placing,
): Promise<readonly IntegrationStep[]> {
  const options = integrationOptions(policy);
  const { placement } = facts;
  if (placement.kind === 'own' || !options.configure) {
    return [];
  }
  const { COREDNS_NAMESPACE: namespace, COREDNS_CONFIGMAP_NAME } = context.config;
  const name = placement.kind === 'custom' ? placement.configMap : COREDNS_CONFIGMAP_NAME;
  const current = await context.kube.get(configMaps, { namespace, name });
  if (placement.kind === 'inline') {
    return planInline({ corefile: current }, options, { hosts, text: rules }).steps;
  }
  // Only our key: the ConfigMap belongs to the users of a managed cluster.
  const content = { namespace, name, data: { [placement.key]: rules }, labels: {}, annotations: {} };
  const step = writeConfigMap(current, content, 'rules');
  return step === undefined ? [] : [{ component: 'import_statement', step }];
}

/** A kubelet refreshes the volumes of a pod when the pod changes, and otherwise about once a minute. */
async function touchPods({ kube, config, now }: Context<Config>): Promise<void> {
  const selection = { namespace: config.COREDNS_NAMESPACE, labelSelector: 'k8s-app=kube-dns' };
  const { items } = await kube.listMetadata(pods, selection);
  const at = (kube.serverTime() ?? now()).toISOString();
  for (const pod of items) {
    if (!(await isTouched(kube, pod, at))) {
      const fieldSelector = `metadata.name=${pod.metadata.name ?? ''}`;
      const [current] = (await kube.listMetadata(pods, { ...selection, fieldSelector })).items;
      // Where it went meanwhile, whatever takes its place starts with the new rules.
      if (current !== undefined) {
        await isTouched(kube, current, at);
      }
    }
  }
}

/** False when the pod is no longer as it was read. */
async function isTouched(kube: Kube, pod: MetadataOnly, at: string): Promise<boolean> {
  try {
    await kube.run({ steps: [touch(pod, at)] });
    return true;
  } catch (error) {
    if (asFailure(error).kind !== 'conflict') {
      throw error;
    }
    return false;
  }
}

function touch({ metadata }: MetadataOnly, at: string): PatchStep {
  const { namespace = '', name = '', uid, resourceVersion, annotations } = metadata;
  // The first annotation brings the map along, and must not replace one that somebody made meanwhile.
  const first = [
    { op: 'test' as const, path: pointer('metadata', 'resourceVersion'), value: resourceVersion },
    { op: 'add' as const, path: pointer('metadata', 'annotations'), value: {} },
  ];
  return {
    do: 'patch',
    resource: pods,
    namespace,
    name,
    operations: [
      { op: 'test', path: pointer('metadata', 'uid'), value: uid },
      ...(annotations === undefined ? first : []),
      { op: 'add', path: pointer('metadata', 'annotations', annotationKey('touched-at')), value: at },
    ],
    brief: true,
    why: 'let the kubelet refresh the rules',
  };
}
