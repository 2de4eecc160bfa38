import { digest } from '../../lib/base/digest.ts';
import { asFailure, type Failure } from '../../lib/base/failure.ts';
import type { Kube } from '../../lib/kube/client.ts';
import {
  configMaps,
  mutatingPolicies,
  mutatingPolicyBindings,
  namespaces,
  nodes,
  pods,
  type ConfigMap,
} from '../../lib/kube/model/resource.ts';
import type { Knowledge } from './knowledge.ts';
import type { Look } from './look.ts';
import { policyName, rulesConfigMap, rulesKey } from './names.ts';
import { coverageOf, uncoveredWorkload } from './plan-coverage.ts';
import type { PolicyFound } from './plan-policy.ts';
import type { NamespacesSeen, RulesFound } from './plan.ts';
import { readRules } from './rule.ts';
import type { Coverage } from './state.ts';

/** What operators wrote, and what it means. */
export interface RulesRead {
  readonly configMap: ConfigMap | undefined;
  readonly found: RulesFound | undefined;
}

export async function readRulesOf(kube: Kube, namespace: string): Promise<RulesRead> {
  const configMap = await kube.get(configMaps, { namespace, name: rulesConfigMap });
  const text = configMap?.data?.[rulesKey];
  return { configMap, found: text === undefined ? undefined : await understand(text) };
}

/** The state holds a copy of them, and has to fit into a ConfigMap itself. */
const mostRules = 256 * 1024;
const tooLong = `must not be longer than ${mostRules} characters`;

/** Of what is wrong with them, for the same reason. */
const mostWords = 1000;

async function understand(text: string): Promise<RulesFound> {
  const read = text.length > mostRules ? { problems: [tooLong] } : readRulesIn(await parseYaml(text));
  return 'problems' in read
    ? { problem: `${rulesKey}: ${read.problems.join('; ')}`.slice(0, mostWords) }
    : { rules: read.rules, hash: hashOf(read.rules) };
}

type Parsed = { readonly value: unknown } | { readonly problems: readonly string[] };

async function parseYaml(text: string): Promise<Parsed> {
  // Only clusters with rules of their own pay for the parser.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) {
    return { problems: [error.message.split('\n', 1)[0] ?? ''] };
  }
  try {
    return { value: document.toJS() };
  } catch (unresolved) {
    // `*-prod` without quotes is an alias to YAML, and is looked up only now.
    const why = unresolved instanceof Error ? unresolved.message : String(unresolved);
    return { problems: [`${why} (quote a text that begins with *)`] };
  }
}

/** A few aliases make long rules of a short text. */
function readRulesIn(parsed: Parsed): ReturnType<typeof readRules> {
  const read = 'problems' in parsed ? parsed : readRules(parsed.value);
  return 'rules' in read && JSON.stringify(read.rules).length > mostRules ? { problems: [tooLong] } : read;
}

/** Short, for people to compare. */
export function hashOf(rules: unknown): string {
  return digest(JSON.stringify(rules), 12);
}

export async function seeNamespaces(kube: Kube, wanted: Look['namespaces']): Promise<NamespacesSeen> {
  if (wanted === 'all') {
    const { items } = await kube.listMetadata(namespaces);
    return new Map(items.map(({ metadata }) => [metadata.name ?? '', metadata]));
  }
  const seen = await Promise.all(
    wanted.map(async (name) => [name, (await kube.get(namespaces, { name }))?.metadata] as const),
  );
  return new Map(seen);
}

export interface PoolsSeen {
  readonly seen: ReadonlyMap<string, boolean>;
  /** Why the others could not be looked at. */
  readonly failure?: Failure;
}

/** Whether each pool has a node. What cannot be read is left out, so that what is known of it stays. */
export async function seePools(kube: Kube, pools: readonly string[]): Promise<PoolsSeen> {
  const seen = new Map<string, boolean>();
  for (const pool of pools) {
    try {
      seen.set(pool, await kube.exists(nodes, { labelSelector: pool }));
    } catch (error) {
      return { seen, failure: asFailure(error) };
    }
  }
  return { seen };
}

/** Pods are large and many: of each only the name of its workload is kept, and only if it was missed. */
export async function seeCoverage(kube: Kube, knowledge: Knowledge): Promise<Coverage> {
  const { items } = await kube.pick(pods, {}, (pod) => uncoveredWorkload({ ...pod }, knowledge));
  return coverageOf(items);
}

export async function seePolicy(kube: Kube): Promise<PolicyFound> {
  const [policy, binding] = await Promise.all([
    kube.get(mutatingPolicies, { name: policyName }),
    kube.get(mutatingPolicyBindings, { name: policyName }),
  ]);
  return { policy, binding };
}
