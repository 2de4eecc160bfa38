import { pointer, unchanged, type Step } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { isWithin } from '../host.ts';
import { annotationKey } from '../state/annotation.ts';
import { ancestors, type Host } from '../rule.ts';
import { compareText } from '../../../lib/base/order.ts';
import type { DnsCondition, DnsObjects, Integration, IntegrationOptions } from './types.ts';

/** Our stub domains among those of others, as a JSON list. */
const ownAnnotation = annotationKey('stub-domains');

type StubDomains = Readonly<Record<string, readonly string[]>>;

/**
 * The cache on each node asks the upstream servers for all but the cluster's own names, so that rules never see the questions
 * of pods that use it. It can be told to ask CoreDNS for whole domains.
 */
export function planNodeLocal(
  observed: DnsObjects,
  options: IntegrationOptions,
  hosts: readonly Host[],
): Omit<Integration, 'facts'> {
  if (observed.nodeLocal === undefined) {
    return { steps: [], conditions: [] };
  }
  if (options.nodeLocal === 'report') {
    return bypassed('pods that ask NodeLocal DNSCache do not see our hosts; NODELOCAL_MODE=stubdomains changes that');
  }
  return planStubs(observed.kubeDns ?? {}, options, zonesToStub(hosts));
}

function planStubs(
  { configMap, service }: NonNullable<DnsObjects['kubeDns']>,
  { namespace }: IntegrationOptions,
  zones: readonly string[],
): Omit<Integration, 'facts'> {
  const address = service?.spec?.clusterIP;
  if (address === undefined || address === 'None') {
    return bypassed('there is no Service kube-dns-upstream with an address that NodeLocal DNSCache could ask');
  }
  const domains = parseStubDomains(configMap?.data?.['stubDomains']);
  if (domains === undefined) {
    return bypassed('stubDomains in the ConfigMap kube-dns is no JSON object of lists; mend it first');
  }
  const step = planStubDomains(configMap, domains, zones, { address, namespace });
  return { steps: step === undefined ? [] : [{ component: 'stub_domains', step }], conditions: [] };
}

/** Takes our stub domains out; undefined when there are none. */
export function removeStubDomains(configMap: ConfigMap | undefined): Step | undefined {
  const domains = parseStubDomains(configMap?.data?.['stubDomains']);
  return configMap === undefined || domains === undefined
    ? undefined
    : planStubDomains(configMap, domains, [], { address: '', namespace: configMap.metadata?.namespace ?? '' });
}

/** The shortest list of domains that has every host: its parent, or itself where the parent is a top-level domain. */
function zonesToStub(hosts: readonly Host[]): readonly string[] {
  const zones = new Set(
    hosts.map(({ host, match }) => {
      const parent = host.slice(host.indexOf('.') + 1);
      return match === 'exact' && parent.includes('.') ? parent : host;
    }),
  );
  return [...zones].filter((zone) => !ancestors(zone).some((ancestor) => zones.has(ancestor))).sort(compareText);
}

function planStubDomains(
  configMap: ConfigMap | undefined,
  domains: StubDomains,
  zones: readonly string[],
  { address, namespace }: { readonly address: string; readonly namespace: string },
): Step | undefined {
  const ours = new Set(parseOwn(configMap?.metadata?.annotations?.[ownAnnotation]));
  const foreign = Object.entries(domains).filter(([zone]) => !ours.has(zone));
  const own = zones.filter((zone) => !foreign.some(([domain]) => isWithin(zone, domain)));
  const text = JSON.stringify(Object.fromEntries([...foreign, ...own.map((zone) => [zone, [address]] as const)]));
  const record = JSON.stringify(own);
  if (configMap === undefined) {
    const metadata = { name: 'kube-dns', namespace, annotations: { [ownAnnotation]: record } };
    const object: ConfigMap = { metadata, data: { stubDomains: text } };
    return own.length === 0
      ? undefined
      : { do: 'create', resource: configMaps, object, why: `${own.length} stub domains` };
  }
  const same = [...ours].sort(compareText).join() === own.join() && text === JSON.stringify(domains);
  return same ? undefined : patchStubDomains(configMap, text, record);
}

function patchStubDomains(configMap: ConfigMap, text: string, record: string): Step {
  const { namespace = '', name = '', annotations } = configMap.metadata ?? {};
  const operations = [
    unchanged(configMap),
    configMap.data === undefined
      ? { op: 'add' as const, path: pointer('data'), value: { stubDomains: text } }
      : { op: 'add' as const, path: pointer('data', 'stubDomains'), value: text },
    annotations === undefined
      ? { op: 'add' as const, path: pointer('metadata', 'annotations'), value: { [ownAnnotation]: record } }
      : { op: 'add' as const, path: pointer('metadata', 'annotations', ownAnnotation), value: record },
  ];
  return { do: 'patch', resource: configMaps, namespace, name, operations, why: 'stub domains' };
}

function parseStubDomains(text: string | undefined): StubDomains | undefined {
  const value = parseJson(text ?? '{}');
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.values(value).every(isStrings) ? (value as StubDomains) : undefined;
}

function parseOwn(text: string | undefined): readonly string[] {
  const value = parseJson(text ?? '[]');
  return isStrings(value) ? value : [];
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bypassed(message: string): { readonly steps: []; readonly conditions: DnsCondition[] } {
  return { steps: [], conditions: [{ type: 'BypassedByNodeLocal', message }] };
}
