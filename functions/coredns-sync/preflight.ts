import type { Context, Reply } from '../../lib/function/define.ts';
import { configMaps, type Resource } from '../../lib/kube/resource.ts';
import type { KubeObject } from '../../lib/kube/wire.ts';
import { instanceLabel } from './annotation.ts';
import type { Config } from './config.ts';
import { obstacle, observeDns, type Dns } from './dns.ts';
import { planIntegration } from './integration.ts';
import { permissionsOf } from './permissions.ts';
import { integrationOptions, policyOf, type Policy } from './policy.ts';
import { modeFor } from './rendering.ts';
import { readShard } from './shard.ts';
import { sourcesOf } from './sources/index.ts';
import { readState, writeState } from './state.ts';

export interface Check {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'error';
  readonly message: string;
}

/** `GET /preflight`: is this cluster ready for it? Changes nothing. */
export async function showPreflight(_request: unknown, context: Context<Config>): Promise<Reply> {
  return { body: await preflight(context) };
}

/** The same as an event: the report goes into the state, for those who can't reach the route. */
export async function keepPreflight(context: Context<Config>): Promise<void> {
  const checks = await preflight(context);
  await writeState(context, await readState(context), { preflight: checks });
}

async function preflight(context: Context<Config>): Promise<readonly Check[]> {
  const policy = policyOf(context.config);
  const dns = await observeDns(context, (await readState(context)).facts);
  return [
    ...checkDnsObjects(dns, policy),
    await checkOwner(context, policy),
    ...(await checkSources(context, policy)),
    ...(await checkRights(context)),
  ];
}

function checkDnsObjects(dns: Dns, policy: Policy): readonly Check[] {
  const { facts, conditions } = planIntegration(dns.objects, integrationOptions(policy), []);
  const broken = obstacle(dns, policy);
  const { why } = modeFor(policy, facts, { shards: 1, hosts: [] });
  return [
    dns.objects.deployment === undefined
      ? {
          check: 'deployment',
          status: 'warn',
          message: 'no Deployment of CoreDNS found: rules are written, nothing is mounted',
        }
      : { check: 'deployment', status: 'ok', message: `CoreDNS ${facts.version ?? 'of an unknown version'}` },
    why === undefined
      ? { check: 'render-mode', status: 'ok', message: policy.config.RENDER_MODE }
      : { check: 'render-mode', status: 'warn', message: why },
    broken === undefined
      ? { check: 'configuration', status: 'ok', message: 'the Corefile takes our rules' }
      : { check: 'configuration', status: 'error', message: broken },
    ...conditions.map(({ type, message }) => ({ check: type, status: 'warn' as const, message })),
  ];
}

async function checkOwner({ kube, config }: Context<Config>, policy: Policy): Promise<Check> {
  const place = { namespace: config.COREDNS_NAMESPACE, name: policy.rulesName };
  const { owner, object } = readShard(0, await kube.get(configMaps, place), policy);
  const holder = object?.metadata?.labels?.[instanceLabel] ?? 'somebody else';
  return owner === 'other' && !config.ADOPT
    ? {
        check: 'rules',
        status: 'error',
        message: `ConfigMap ${policy.rulesName} belongs to ${holder}; ADOPT=true takes it over`,
      }
    : {
        check: 'rules',
        status: 'ok',
        message: owner === 'other' ? `will be taken over from ${holder}` : policy.rulesName,
      };
}

/** A kind that the settings ask for and the cluster does not serve would keep its last hosts for ever. */
async function checkSources({ kube }: Context<Config>, policy: Policy): Promise<readonly Check[]> {
  return Promise.all(
    sourcesOf(policy).map(async ({ resource }): Promise<Check> => {
      const check = `source ${resource.kind}`;
      try {
        await kube.listMetadata(resource, { pageSize: 1, namespace: policy.config.WATCH_NAMESPACES[0] });
        return { check, status: 'ok', message: 'readable' };
      } catch (error) {
        return { check, status: 'error', message: error instanceof Error ? error.message : 'not readable' };
      }
    }),
  );
}

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

const accessReviews: Resource<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

async function checkRights({ kube, config, namespace: own }: Context<Config>): Promise<readonly Check[]> {
  const asked = permissionsOf(config).flatMap(({ groups, resources, verbs, names = [undefined], scope }) => {
    const namespaces = scope === 'cluster' ? [undefined] : scope === 'own' ? [own] : scope.namespaces;
    return verbs.map((verb) => ({
      verb,
      group: groups[0],
      resource: resources[0],
      name: names[0],
      namespace: namespaces[0],
    }));
  });
  const denied: string[] = [];
  for (const attributes of asked) {
    const object = { spec: { resourceAttributes: attributes } } as KubeObject;
    const [outcome] = await kube.run({ steps: [{ do: 'create', resource: accessReviews, object, why: 'preflight' }] });
    const { status } = (outcome?.object ?? {}) as AccessReview;
    const what = `${attributes.verb} ${attributes.resource ?? ''} in ${attributes.namespace ?? 'the cluster'}`;
    denied.push(...(status?.allowed === true ? [] : [what]));
  }
  return [
    denied.length === 0
      ? { check: 'rights', status: 'ok', message: `${asked.length} rights granted` }
      : { check: 'rights', status: 'error', message: `missing: ${denied.join(', ')}` },
  ];
}
