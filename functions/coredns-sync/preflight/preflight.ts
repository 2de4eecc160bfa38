import type { Context, Reply } from '../../../lib/function/definition.ts';
import { checkOwnRights } from '../../../lib/runtime/doctor/own-rights.ts';
import { asFailure } from '../../../lib/base/failure.ts';
import { memoryKey } from '../../../lib/function/memory.ts';
import {
  configMaps,
  type CustomResourceDefinition,
  type Deployment,
  type Resource,
} from '../../../lib/kube/model/resource.ts';
import { instanceLabel } from '../state/annotation.ts';
import type { Config } from '../config.ts';
import { hidesNodeLocal, obstacle, observeDns, type Dns } from '../integration/dns.ts';
import { orIfForbidden } from '../forbidden.ts';
import { observeMount } from '../integration/mount.ts';
import type { DnsCondition } from '../integration/types.ts';
import { planIntegration } from '../integration/plan.ts';
import { neighboursIn, rivalry, type Neighbour } from './neighbours.ts';
import { permissionsOf } from '../permissions.ts';
import { integrationOptions, policyOf, type Policy } from '../policy.ts';
import { modeFor } from '../render/rendering.ts';
import { readShard } from '../shard/shard.ts';
import { definitionName, readDefinition } from '../sources/definition.ts';
import { sourcesOf } from '../sources/index.ts';
import type { Source } from '../sources/source.ts';
import { readState, writeState } from '../state/state.ts';

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
  const state = await orIfForbidden(undefined, () => readState(context)); // which rights are missing is part of the answer
  const dns = await observeDns(context, state?.facts);
  return [
    ...checkDnsObjects(dns, policy),
    await checkOwner(context, policy),
    await checkNeighbours(context, policy, dns),
    ...(await Promise.all(sourcesOf(policy).map((source) => checkSource(context, policy, source)))),
    await checkRights(context),
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
    ...allClear(dns, policy, conditions),
  ];
}

/** What would have shown if it were the case, where it could be seen. */
function allClear(dns: Dns, policy: Policy, conditions: readonly DnsCondition[]): readonly Check[] {
  const { deployment } = dns.objects;
  const found = new Set(conditions.map(({ type }) => type));
  const read = !unreadable.some((type) => found.has(type));
  const clear: readonly (readonly [DnsCondition['type'], boolean, string])[] = [
    ['MountConflict', deployment !== undefined && isMountable(deployment, policy), 'the mount path is free, or ours'],
    ['NoReload', read, 'CoreDNS reloads its Corefile'],
    ['BypassedByNodeLocal', !hidesNodeLocal(dns), 'no NodeLocal DNSCache is in the way'],
  ];
  return clear.flatMap(([check, seen, message]) =>
    seen && !found.has(check) ? [{ check, status: 'ok' as const, message }] : [],
  );
}

/** Not every plan looks at that: CoreDNS may read rules from elsewhere, or not at all. */
function isMountable(deployment: Deployment, policy: Policy): boolean {
  return observeMount(deployment, integrationOptions(policy)).conflict === undefined;
}

/** Conditions with which nothing is known of the Corefile. */
const unreadable = ['NoCorefile', 'InvalidCorefile', 'Unsupported', 'NoEligibleBlock'] as const;

async function checkOwner({ kube, config }: Context<Config>, policy: Policy): Promise<Check> {
  const place = { namespace: config.COREDNS_NAMESPACE, name: policy.rulesName };
  const found = await orIfForbidden('hidden', () => kube.get(configMaps, place));
  if (found === 'hidden') {
    return { check: 'rules', status: 'error', message: `ConfigMap ${policy.rulesName} may not be read` };
  }
  const { owner, object } = readShard(0, found, policy);
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

/** Their ConfigMaps are named by the Deployment; the right to read them is nobody's but the installer's to give. */
async function checkNeighbours({ kube, config }: Context<Config>, policy: Policy, { objects }: Dns): Promise<Check> {
  const check = 'instances';
  if (objects.deployment === undefined) {
    const message = 'unknown, since there is no Deployment of CoreDNS that we may read and that says what it mounts';
    return { check, status: 'warn', message };
  }
  const neighbours = await Promise.all(
    neighboursIn(objects.deployment, policy).map(async (name): Promise<Neighbour> => {
      const place = { namespace: config.COREDNS_NAMESPACE, name };
      return { name, object: await orIfForbidden('hidden', () => kube.get(configMaps, place)) };
    }),
  );
  const problems = neighbours.flatMap((neighbour) => rivalry(neighbour, policy) ?? []);
  return problems.length === 0
    ? { check, status: 'ok', message: 'CoreDNS mounts no rules of another instance for our classes' }
    : { check, status: 'warn', message: problems.join('; ') };
}

async function checkSource({ kube }: Context<Config>, policy: Policy, source: Source): Promise<Check> {
  const { resource, custom } = source;
  const check = `source ${resource.kind}`;
  const definition = custom ? await readDefinition(kube, resource) : 'unknown';
  const lack = definition === 'unknown' ? undefined : lackOf(definition, resource);
  if (lack !== undefined) {
    return { check, status: 'error', message: lack };
  }
  try {
    await kube.exists(resource, { namespace: policy.config.WATCH_NAMESPACES[0] });
    return { check, status: 'ok', message: 'readable' };
  } catch (error) {
    return { check, status: 'error', message: asFailure(error).message };
  }
}

/** Why a kind can't be read, whatever our rights are. */
function lackOf(definition: CustomResourceDefinition | undefined, resource: Resource): string | undefined {
  const name = definitionName(resource);
  if (definition === undefined) {
    return `the cluster has no CustomResourceDefinition ${name}`;
  }
  const served = definition.spec.versions.flatMap((version) => (version.served ? [version.name] : []));
  return served.includes(resource.version)
    ? undefined
    : `CustomResourceDefinition ${name} serves ${served.join(', ')}, not ${resource.version}`;
}

/** Senders are unknown, and each right costs a call: whoever asks often gets the same answer. */
const freshMs = 15_000;

interface KnownRights {
  check: Promise<Check> | undefined;
  freshUntil: number;
}

const knownRights = memoryKey<KnownRights>(() => ({ check: undefined, freshUntil: 0 }));

function checkRights(context: Context<Config>): Promise<Check> {
  const known = context.memory(knownRights);
  if (known.check === undefined || context.now().getTime() >= known.freshUntil) {
    known.freshUntil = Infinity; // whoever asks meanwhile waits for the same answer, however long it takes
    known.check = askForRights(context);
    known.check.then(
      () => (known.freshUntil = context.now().getTime() + freshMs),
      () => (known.check = undefined),
    );
  }
  return known.check;
}

async function askForRights(context: Context<Config>): Promise<Check> {
  const [found] = await checkOwnRights(permissionsOf(context.config), context);
  return { check: 'rights', status: found?.state === 'ok' ? 'ok' : 'error', message: found?.message ?? '' };
}
