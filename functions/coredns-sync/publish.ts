import type { Context } from '../../lib/function/define.ts';
import { configMaps, pods } from '../../lib/kube/resource.ts';
import { pointer } from '../../lib/function/plan.ts';
import { annotationKey } from './annotation.ts';
import type { Config } from './config.ts';
import { planInline } from './integration.ts';
import type { DnsFacts } from './integration/types.ts';
import { countWrites } from './metrics.ts';
import { writeConfigMap } from './patch.ts';
import { integrationOptions, type Policy } from './policy.ts';
import type { ShardPlan } from './shard-plan.ts';
import type { Host } from './rule.ts';
import { rulesIn } from './shard.ts';
import { readShards } from './store.ts';

/** Again what should be there already: a write that failed, or that somebody undid, is made good. */
export async function placeAgain(context: Context<Config>, policy: Policy, facts: DnsFacts): Promise<void> {
  const placed = facts.placement.kind !== 'own' && integrationOptions(policy).configure;
  const first = placed ? (await readShards(context, policy, [0])).get(0) : undefined;
  if (first?.claims !== undefined) {
    await place(context, policy, { facts, hosts: first.claims, rules: rulesIn(first.object, 0, policy) });
  }
}

interface Written {
  readonly facts: DnsFacts | undefined;
  readonly plan: readonly ShardPlan[];
}

/** Brings rules that were just written to CoreDNS, where it does not mount their ConfigMaps itself. */
export async function publish(context: Context<Config>, policy: Policy, { facts, plan }: Written): Promise<void> {
  if (context.config.RENDER_ONLY) {
    return;
  }
  const first = plan.find(({ shard }) => shard.index === 0)?.content;
  if (facts !== undefined && first !== undefined) {
    await place(context, policy, { facts, hosts: first.claims, rules: first.rules });
  }
  if (context.config.TOUCH_PODS && plan.some((each) => each.changesRules)) {
    await touchPods(context);
  }
}

interface Placing {
  readonly facts: DnsFacts;
  readonly hosts: readonly Host[];
  readonly rules: string;
}

/** Such clusters have one ConfigMap of rules, so the first is all there is. */
async function place(context: Context<Config>, policy: Policy, { facts, hosts, rules }: Placing): Promise<void> {
  const options = integrationOptions(policy);
  if (facts.placement.kind === 'own' || !options.configure) {
    return;
  }
  if (facts.placement.kind === 'custom') {
    await publishCustom(context, facts.placement, rules);
    return;
  }
  const { COREDNS_NAMESPACE: namespace, COREDNS_CONFIGMAP_NAME: name } = context.config;
  const corefile = await context.kube.get(configMaps, { namespace, name });
  const { steps } = planInline({ corefile }, options, { hosts, text: rules });
  await context.kube.run({ steps: steps.map(({ step }) => step) });
  countWrites(context, 'corefile', steps.length);
}

/** Only our key of a ConfigMap that belongs to the users of a managed cluster. */
async function publishCustom(
  context: Context<Config>,
  { configMap: name, key }: { readonly configMap: string; readonly key: string },
  text: string,
): Promise<void> {
  const namespace = context.config.COREDNS_NAMESPACE;
  const current = await context.kube.get(configMaps, { namespace, name });
  const step = writeConfigMap(
    current,
    { namespace, name, data: { [key]: text }, labels: {}, annotations: {} },
    'rules',
  );
  await context.kube.run({ steps: step === undefined ? [] : [step] });
  countWrites(context, 'custom', step === undefined ? 0 : 1);
}

/** A kubelet refreshes the volumes of a pod when the pod changes, and otherwise about once a minute. */
async function touchPods({ kube, config, now }: Context<Config>): Promise<void> {
  const namespace = config.COREDNS_NAMESPACE;
  const { items } = await kube.listMetadata(pods, { namespace, labelSelector: 'k8s-app=kube-dns' });
  const value = (kube.serverTime() ?? now()).toISOString();
  await kube.run({
    steps: items.map((pod) => ({
      do: 'patch',
      resource: pods,
      namespace,
      name: pod.metadata.name ?? '',
      operations: [
        { op: 'test', path: pointer('metadata', 'uid'), value: pod.metadata.uid },
        ...(pod.metadata.annotations === undefined
          ? [{ op: 'add' as const, path: pointer('metadata', 'annotations'), value: {} }]
          : []),
        { op: 'add', path: pointer('metadata', 'annotations', annotationKey('touched-at')), value },
      ],
      brief: true,
      why: 'let the kubelet refresh the rules',
    })),
  });
}
