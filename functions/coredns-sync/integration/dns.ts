import { digest } from '../../../lib/base/digest.ts';
import type { Context } from '../../../lib/function/definition.ts';
import {
  configMaps,
  daemonSets,
  deployments,
  services,
  type Deployment,
  type Service,
} from '../../../lib/kube/model/resource.ts';
import { checkConfiguration, checkImports } from '../render/check.ts';
import type { Config } from '../config.ts';
import { orIfForbidden } from '../forbidden.ts';
import { customConfigMap, knownFiles } from './detect.ts';
import { corednsContainer, hasFormerPods, isRolledOut, observeMount, trimmed } from './mount.ts';
import type { DnsFacts, DnsObjects } from './types.ts';
import { integrationOptions, policyOf, targetServices, type Policy } from '../policy.ts';
import { dataKey, renderRules, shardKey } from '../render/render.ts';
import { shardName } from '../shard/shard.ts';
import { upTo } from '../state/store.ts';

/** The cluster's DNS as it is now. */
export interface Dns {
  readonly objects: DnsObjects;
  /** What we may not read: it is as if it were not there, and a condition says so. */
  readonly forbidden: readonly string[];
}

const nodeLocalName = 'node-local-dns';
const kubeDnsName = 'kube-dns';
/** Brought along by NodeLocal DNSCache: on its nodes the address of kube-dns is its own. */
export const upstreamName = 'kube-dns-upstream';

export async function observeDns(context: Context<Config>, last?: DnsFacts): Promise<Dns> {
  const { kube, config } = context;
  const namespace = config.COREDNS_NAMESPACE;
  const forbidden: string[] = [];

  async function readable<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    const found = await orIfForbidden('forbidden' as const, read);
    if (found === 'forbidden') {
      forbidden.push(what);
      return undefined;
    }
    return found;
  }

  function configMap(name: string): Promise<DnsObjects['corefile']> {
    return readable(`ConfigMap ${name}`, () => kube.get(configMaps, { namespace, name }));
  }

  async function deployment(): Promise<Deployment | undefined> {
    const named = await kube.get(deployments, { namespace, name: config.COREDNS_DEPLOYMENT_NAME });
    return named ?? (await kube.list(deployments, { namespace, labelSelector: 'k8s-app=kube-dns' })).items[0];
  }

  const stubs = config.NODELOCAL_MODE === 'stubdomains';
  const [corefile, custom, running, local, daemon, targets, kubeDns, service] = await Promise.all([
    configMap(config.COREDNS_CONFIGMAP_NAME),
    configMap(customConfigMap),
    readable('Deployments', deployment),
    configMap(nodeLocalName),
    readable(`DaemonSet ${nodeLocalName}`, () => kube.get(daemonSets, { namespace, name: nodeLocalName })),
    readTargets(context),
    stubs ? configMap(kubeDnsName) : undefined,
    stubs
      ? readable(`Service ${upstreamName}`, () => kube.get(services, { namespace, name: upstreamName }))
      : undefined,
  ]);
  return {
    objects: {
      corefile,
      custom,
      customHidden: forbidden.includes(`ConfigMap ${customConfigMap}`),
      deployment: running,
      nodeLocal: local ?? daemon,
      targets,
      last,
      at: kube.serverTime() ?? context.now(),
      ...(stubs ? { kubeDns: { configMap: kubeDns, service } } : {}),
    },
    forbidden,
  };
}

/** Of all that `planIntegration` goes by, hosts aside: most of what happens to CoreDNS is none of it. */
export function digestOf({ objects, forbidden }: Dns, policy: Policy): string {
  const { corefile, custom, kubeDns, nodeLocal, deployment, targets = new Map<string, Service>(), last } = objects;
  const seen = [
    ...[policy.config, forbidden.toSorted(), nodeLocal !== undefined],
    ...[corefile, custom, kubeDns?.configMap].map((found) => [found?.data, found?.metadata?.annotations]),
    ...[...targets, ['kube-dns', kubeDns?.service] as const].map(([name, found]) => [name, addressOf(found)]),
    deployment === undefined ? 'missing' : podsOf(deployment, policy, last),
  ];
  return digest(JSON.stringify(seen), 16);
}

function addressOf(service: Service | 'missing' | undefined): unknown {
  return typeof service === 'object' ? [service.spec?.clusterIP, service.spec?.clusterIPs] : service;
}

/** How many there are is nobody's business; whether all have the template is, while something waits for that. */
function podsOf(deployment: Deployment, policy: Policy, last: DnsFacts | undefined): unknown {
  const { shards } = observeMount(deployment, integrationOptions(policy));
  const waits = last?.imported !== true || last.shards < shards;
  const rollout = waits ? [isRolledOut(deployment), hasFormerPods(deployment)] : [];
  return [deployment.metadata?.name, deployment.spec?.template, rollout];
}

/** May there be a NodeLocal DNSCache that we can't see? */
export function hidesNodeLocal({ forbidden }: Dns): boolean {
  return [`ConfigMap ${nodeLocalName}`, `DaemonSet ${nodeLocalName}`].some((what) => forbidden.includes(what));
}

/** What we may not see is taken to be there. */
async function readTargets({ kube, config }: Context<Config>): Promise<ReadonlyMap<string, Service | 'missing'>> {
  const found = targetServices(policyOf(config)).map(({ target, ...place }) =>
    orIfForbidden([], async () => [[target, (await kube.get(services, place)) ?? ('missing' as const)] as const]),
  );
  return new Map((await Promise.all(found)).flat());
}

/**
 * Why rules must not be written, whatever they say: the Corefile, as it would read them, would break. The classic is a glob
 * beside the server blocks that matches our file.
 */
export function obstacle({ objects }: Dns, policy: Policy): string | undefined {
  const { corefile, custom, deployment } = objects;
  const text = corefile?.data?.['Corefile'];
  if (text === undefined) {
    return undefined;
  }
  const sample = renderRules([{ host: 'a.example', match: 'exact', target: 'b.example.' }], {
    mode: 'exact',
    key: 'rules',
  });
  const paths = filePaths(deployment, policy);
  const known = knownFiles(custom, deployment);
  const ours = new Map(paths.map((path) => [path, sample['rules'] ?? '']));
  const claims = paths.map((path) => dataKey(path, 'claims'));
  const [problem] = [...checkConfiguration(text, known, ours), ...checkImports(text, known, claims)];
  return problem === undefined ? undefined : `${problem.file}: ${problem.message}`;
}

/** The files that our ConfigMaps become: where the Deployment mounts them, else where it would. */
function filePaths(deployment: Deployment | undefined, policy: Policy): readonly string[] {
  const { config } = policy;
  const mounted = upTo(config.MAX_SHARDS).flatMap((index) => {
    const directory = deployment === undefined ? undefined : directoryOf(deployment, shardName(policy, index));
    return directory === undefined ? [] : [`${directory}/${shardKey(config.DYNAMIC_CONFIG_KEY, index)}`];
  });
  return mounted.length > 0 ? mounted : [`${integrationOptions(policy).mountPath}/${config.DYNAMIC_CONFIG_KEY}`];
}

function directoryOf(deployment: Deployment, configMap: string): string | undefined {
  const volume = deployment.spec?.template.spec?.volumes?.find(
    (each) =>
      each.configMap?.name === configMap ||
      each.projected?.sources?.some((source) => source.configMap?.name === configMap),
  );
  const mount = corednsContainer(deployment)?.volumeMounts?.find(({ name }) => name === volume?.name);
  return volume === undefined || mount === undefined ? undefined : trimmed(mount.mountPath);
}
