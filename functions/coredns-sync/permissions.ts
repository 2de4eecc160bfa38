import type { Permission } from '../../lib/function/permissions.ts';
import { customResourceDefinitions } from '../../lib/kube/model/resource.ts';
import type { Config } from './config.ts';
import { upstreamName } from './integration/dns.ts';
import { customConfigMap } from './integration/detect.ts';
import { policyOf, targetServices, type Policy } from './policy.ts';
import { mostShards } from './settings/writing.ts';
import { lastGoodName, shardName } from './shard/shard.ts';
import { definitionName } from './sources/definition.ts';
import { gatewayGroup } from './sources/gateway.ts';
import { sourcesOf } from './sources/index.ts';
import { upTo } from './state/store.ts';

/** Exactly what the settings make it do. */
export function permissionsOf(config: Config): readonly Permission[] {
  const policy = policyOf(config);
  return [
    ...sourceRights(policy),
    ...stateRights(),
    ...rulesRights(policy),
    ...dnsRights(policy),
    ...extraRights(policy),
  ];
}

function sourceRights(policy: Policy): readonly Permission[] {
  const { config, namespaceSelector, watchesGateways } = policy;
  const watched = config.WATCH_NAMESPACES;
  const scope = watched.length === 0 ? ('cluster' as const) : { namespaces: watched };
  const readsNamespaces = watchesGateways || namespaceSelector !== undefined;
  return [
    ...sourcesOf(policy).map(({ resource }) => ({
      groups: [resource.group],
      resources: [resource.plural],
      verbs: ['get', 'list'],
      scope,
    })),
    ...(config.EMIT_EVENTS ? [{ groups: ['events.k8s.io'], resources: ['events'], verbs: ['create'], scope }] : []),
    ...(config.UNCLASSED === 'default'
      ? [{ groups: ['networking.k8s.io'], resources: ['ingressclasses'], verbs: ['list'], scope: 'cluster' as const }]
      : []),
    ...(watchesGateways
      ? [{ groups: [gatewayGroup], resources: ['gateways'], verbs: ['get', 'list'], scope: 'cluster' as const }]
      : []),
    ...definitionRights(policy),
    ...(readsNamespaces
      ? [{ groups: [''], resources: ['namespaces'], verbs: ['get', 'list'], scope: 'cluster' as const }]
      : []),
  ];
}

/** Whether a kind that is not served has gone for good. */
function definitionRights(policy: Policy): readonly Permission[] {
  const names = sourcesOf(policy).flatMap(({ custom, resource }) => (custom ? [definitionName(resource)] : []));
  const { group, plural } = customResourceDefinitions;
  return names.length === 0
    ? []
    : [{ groups: [group], resources: [plural], names, verbs: ['get'], scope: 'cluster' as const }];
}

/** The namespace is the function's own: its ConfigMaps need not be named one by one, and their number changes. */
function stateRights(): readonly Permission[] {
  return [{ groups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'patch', 'delete'], scope: 'own' }];
}

function rulesRights(policy: Policy): readonly Permission[] {
  const scope = { namespaces: [policy.config.COREDNS_NAMESPACE] };
  const names = upTo(mostShards).map((index) => shardName(policy, index)); // also those of a larger MAX_SHARDS before
  return [
    { groups: [''], resources: ['configmaps'], names, verbs: ['get', 'patch', 'delete'], scope },
    { groups: [''], resources: ['configmaps'], verbs: ['create'], scope }, // can't be limited to names
    ...(policy.config.RENDER_ONLY
      ? [{ groups: [''], resources: ['configmaps'], names: liveNames(policy.config), verbs: ['get'], scope }]
      : []),
  ];
}

/** What a preview is compared with. */
function liveNames(config: Config): readonly string[] {
  const live = policyOf({ ...config, RENDER_ONLY: false });
  return upTo(config.MAX_SHARDS).map((index) => shardName(live, index));
}

/** Reading always, since what is missing is reported; writing only where it may configure. */
function dnsRights({ config }: Policy): readonly Permission[] {
  const scope = { namespaces: [config.COREDNS_NAMESPACE] };
  const read = [config.COREDNS_CONFIGMAP_NAME, customConfigMap, 'node-local-dns'];
  const stubs = config.NODELOCAL_MODE === 'stubdomains';
  return [
    {
      groups: [''],
      resources: ['configmaps'],
      names: [...read, ...(stubs ? ['kube-dns'] : [])],
      verbs: ['get'],
      scope,
    },
    { groups: ['apps'], resources: ['deployments'], names: [config.COREDNS_DEPLOYMENT_NAME], verbs: ['get'], scope },
    { groups: ['apps'], resources: ['deployments'], verbs: ['list'], scope }, // to find one of another name
    { groups: ['apps'], resources: ['daemonsets'], names: ['node-local-dns'], verbs: ['get'], scope },
    ...(stubs ? [{ groups: [''], resources: ['services'], names: [upstreamName], verbs: ['get'], scope }] : []),
    ...(config.COREDNS_AUTO_CONFIGURE
      ? [
          {
            groups: [''],
            resources: ['configmaps'],
            names: [config.COREDNS_CONFIGMAP_NAME, customConfigMap, ...(stubs ? ['kube-dns'] : [])],
            verbs: ['patch'],
            scope,
          },
          {
            groups: ['apps'],
            resources: ['deployments'],
            names: [config.COREDNS_DEPLOYMENT_NAME],
            verbs: ['patch'],
            scope,
          },
        ]
      : []),
  ];
}

/** Services by name in the whole cluster, since a Role in the namespace of one that is not there yet could not be installed. */
function extraRights(policy: Policy): readonly Permission[] {
  const { config } = policy;
  const names = [...new Set(targetServices(policy).map(({ name }) => name))];
  return [
    ...(names.length === 0
      ? []
      : [{ groups: [''], resources: ['services'], names, verbs: ['get'], scope: 'cluster' as const }]),
    ...podRights(config),
    ...(config.VERIFY_RELOAD ? lastGoodRights(policy) : []),
  ];
}

function podRights({ TOUCH_PODS, VERIFY_RELOAD, COREDNS_NAMESPACE }: Config): readonly Permission[] {
  const verbs = [...(TOUCH_PODS || VERIFY_RELOAD ? ['list'] : []), ...(TOUCH_PODS ? ['patch'] : [])];
  const scope = { namespaces: [COREDNS_NAMESPACE] };
  return verbs.length === 0 ? [] : [{ groups: [''], resources: ['pods'], verbs, scope }];
}

/** The rules that CoreDNS took last, and the Event about their return: one that watches all namespaces may emit anywhere. */
function lastGoodRights(policy: Policy): readonly Permission[] {
  const { config } = policy;
  const emitsHere = config.EMIT_EVENTS && config.WATCH_NAMESPACES.length > 0;
  const scope = { namespaces: [config.COREDNS_NAMESPACE] };
  const names = upTo(mostShards).map((index) => lastGoodName(policy, index)); // likewise of a larger MAX_SHARDS before
  return [
    { groups: [''], resources: ['configmaps'], names, verbs: ['get', 'patch', 'delete'], scope },
    ...(emitsHere ? [{ groups: ['events.k8s.io'], resources: ['events'], verbs: ['create'], scope }] : []),
  ];
}
