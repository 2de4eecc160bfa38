import { defineFunction } from '../../lib/runtime/define.ts';
import type { Trigger, Watch } from '../../lib/function/triggers.ts';
import { configMaps, deployments, ingressClasses, services } from '../../lib/kube/model/resource.ts';
import { release } from './integration/cleanup.ts';
import { Config } from './config.ts';
import { checkDns, lookAtEverything } from './pass/full.ts';
import { customConfigMap } from './integration/detect.ts';
import { permissionsOf } from './permissions.ts';
import { policyOf, targetServices } from './policy.ts';
import { keepPreflight, showPreflight } from './preflight/preflight.ts';
import { shardName } from './shard/shard.ts';
import { sourcesOf } from './sources/index.ts';
import { stateName } from './state/state.ts';
import { showStatus } from './status.ts';
import { upTo } from './state/store.ts';
import { syncObjects } from './pass/sync.ts';
import { checkRules } from './pass/tamper.ts';

export default defineFunction<Config>({
  name: 'coredns-sync',
  summary: 'lets CoreDNS answer every host of an Ingress, inside the cluster, with the address of its controller',
  config: Config,
  on: (config) => [...watches(config), ...hints],
  tick: { schedule: '*/5 * * * *', handle: lookAtEverything },
  routes: [
    { method: 'GET', path: '/status', handle: showStatus },
    { method: 'GET', path: '/preflight', handle: showPreflight },
  ],
  permissions: permissionsOf,
  // Full passes over a large cluster would grow the heap by 60 MB for want of a bound, and what threads keep by 10 MB.
  scaling: { minScale: 0, maxScale: 2, cpu: '20m', memory: '128Mi', heapMb: 512, youngMb: 4, mallocArenas: 1 },
  keeps: (config, { namespace }) => [{ resource: configMaps, name: stateName(config), namespace }],
  release,
});

/** CoreDNS's own objects come as references: a full rules ConfigMap would be an event of its size. */
function watches(config: Config): readonly Watch<Config>[] {
  const policy = policyOf(config);
  const watched = config.WATCH_NAMESPACES;
  const everywhere = watched.length === 0 ? ('cluster' as const) : { namespaces: watched };
  const coredns = { namespaces: [config.COREDNS_NAMESPACE] };
  return [
    ...sourcesOf(policy).map(({ resource }) => ({
      resource,
      mode: 'Reference' as const,
      scope: everywhere,
      handle: syncObjects,
    })),
    ...(config.UNCLASSED === 'default'
      ? [{ resource: ingressClasses, mode: 'Reference' as const, scope: 'cluster' as const, handle: lookAtEverything }]
      : []),
    {
      resource: configMaps,
      mode: 'Reference',
      scope: coredns,
      names: upTo(config.MAX_SHARDS).map((index) => shardName(policy, index)),
      handle: checkRules,
    },
    {
      resource: configMaps,
      mode: 'Reference',
      scope: coredns,
      names: [config.COREDNS_CONFIGMAP_NAME, customConfigMap],
      handle: checkDns,
    },
    {
      resource: deployments,
      mode: 'Reference',
      scope: coredns,
      names: [config.COREDNS_DEPLOYMENT_NAME],
      handle: checkDns,
    },
    ...(config.RENDER_MODE === 'hosts' ? targetServices(policy) : []).map(({ name, namespace }) => ({
      resource: services,
      mode: 'Reference' as const,
      scope: { namespaces: [namespace] },
      names: [name],
      handle: checkDns,
    })),
  ];
}

/** What they ask for needs more than an event: cleaning up an annotation on the state ConfigMap, the others nothing. */
const hints: readonly Trigger<Config>[] = [
  { type: 'dev.kube-reflex.coredns-sync.cleanup', handle: lookAtEverything },
  { type: 'dev.kube-reflex.coredns-sync.preflight', handle: keepPreflight },
];
