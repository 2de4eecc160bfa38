import { parseConfig } from '../../../lib/function/config.ts';
import type { KubeObject } from '../../../lib/kube/model/wire.ts';
import { bucketOf, readBucket, writeBucket } from '../state/bucket.ts';
import { ranked } from '../claim.ts';
import { Config } from '../config.ts';
import { parseTarget } from '../host.ts';
import type { DnsFacts } from '../integration/types.ts';
import { decide, type Decision } from '../pass/decision.ts';
import { policyOf, type Policy } from '../policy.ts';
import { renderModes } from '../render/render.ts';
import { outcomeEvents } from '../pass/report.ts';
import { writeShard, type ShardContent } from '../shard/shard.ts';
import { sourcesOf } from '../sources/index.ts';
import type { Gateway } from '../sources/gateway.ts';
import type { World } from '../sources/source.ts';
import { wantedBy, type Wanted } from '../sources/wanted.ts';
import { parseState } from '../state/state.ts';
import { foreignTo } from './grammar.ts';
import { junkHost } from './junk.ts';

export interface Injected {
  /** Texts that objects carried: hosts, targets and annotations. */
  readonly texts: number;
  /** The rules of every pass. */
  readonly contents: readonly ShardContent[];
  /** Hosts that were served. */
  readonly served: number;
  /** The first pieces of written objects that no host, target or word of ours explains. */
  readonly foreign: readonly string[];
}

const hostsPerObject = 10;
const objectsPerPass = 60;

/** Objects of every kind full of junk, through a full pass: what it would write is looked at, text by text. */
export function injectJunk(texts: number): Injected {
  let given = 0;
  let served = 0;
  const foreign: string[] = [];
  const contents: ShardContent[] = [];
  function next(): string {
    given += 1;
    return junkHost(given);
  }
  for (let pass = 0; given < texts; pass += 1) {
    const policy = junkPolicy(next, renderModes[pass % renderModes.length] ?? 'exact');
    const wanted = junkObjects(policy, next);
    const decision = decideOn(policy, wanted);
    served += decision.summary.hosts;
    contents.push(...decision.plans.map(({ content }) => content));
    foreign.push(...foreignTo(policy, writtenBy(policy, wanted, decision)).slice(0, 10 - foreign.length));
  }
  return { texts: given, contents, served, foreign };
}

/** Targets come from settings: one that is no name stops the start, any other must be harmless. */
function junkPolicy(next: () => string, mode: string): Policy {
  const targets = Array.from({ length: 30 }, next).flatMap((text) => parseTarget(text) ?? []);
  const [first = 'nginx.infra.svc.cluster.local.', second = first] = targets;
  return policyOf(
    parseConfig(Config, {
      TARGET_CNAME: first,
      GATEWAY_CLASS: 'shared',
      GATEWAY_TARGET_CNAME: second,
      INGRESSROUTE_TARGET_CNAME: first,
      RENDER_MODE: mode,
      INCLUDE_TLS_HOSTS: 'true',
      MIN_WILDCARD_LABELS: '1',
    }),
  );
}

function junkObjects(policy: Policy, next: () => string): readonly Wanted[] {
  const sources = sourcesOf(policy);
  return Array.from({ length: objectsPerPass }, (_, index) => index).flatMap((index) => {
    const source = sources[index % sources.length];
    const object = junkObject(index, next);
    const world: World = { gateways: new Map([['shop/edge', junkGateway(next)]]), namespaces: new Map(), classes: [] };
    return source === undefined ? [] : [wantedBy(source, object, { policy, world })];
  });
}

/** One that every kind of source takes for its own. */
function junkObject(index: number, next: () => string): KubeObject {
  const hosts = Array.from({ length: hostsPerObject }, next);
  const parentRef = { name: 'edge' };
  const object = {
    metadata: {
      namespace: 'shop',
      name: `web-${index}`,
      uid: String(index),
      resourceVersion: '1',
      annotations: { 'coredns-ingress-sync-priority': next(), 'coredns-ingress-sync-enabled': next() },
    },
    spec: {
      ingressClassName: 'nginx',
      rules: hosts.slice(5).map((host) => ({ host })),
      tls: [{ hosts: hosts.slice(0, 5) }],
      hostnames: hosts,
      parentRefs: [parentRef],
      routes: hosts.map((host) => ({ match: `Host(\`${host}\`)` })),
    },
    status: { parents: [{ parentRef, conditions: [{ type: 'Accepted', status: 'True' }] }] },
  };
  return object;
}

function junkGateway(next: () => string): Gateway {
  const listeners = ['HTTP', 'TLS'].map((protocol) => ({ name: protocol, protocol, hostname: next() }));
  const open = { name: 'open', protocol: 'HTTP' };
  return {
    metadata: { namespace: 'shop', name: 'edge' },
    spec: { gatewayClassName: 'shared', listeners: [...listeners, open] },
  };
}

/** A CoreDNS that can take rules of every mode. */
function factsFor({ mappings }: Policy): DnsFacts {
  const frame = { port: ':1053', lines: ['forward . /etc/resolv.conf'], taken: [], inside: ['cluster.local'] };
  return {
    mode: 'corefile',
    placement: { kind: 'own' },
    version: '1.15.0',
    redispatch: false,
    imported: true,
    volume: true,
    mount: true,
    shards: 1,
    addresses: Object.fromEntries(mappings.map(({ target }) => [target, ['fd00::80']])),
    blocks: { frame, since: new Date(0).toISOString(), settled: true },
  };
}

function decideOn(policy: Policy, wanted: readonly Wanted[]): Decision {
  return decide({
    policy,
    state: parseState(undefined),
    facts: factsFor(policy),
    shards: [],
    records: new Map(),
    listed: { wanted, resourceVersion: '1', unread: [], gone: [], illegible: [] },
    now: new Date(0),
  });
}

/** Everything that a pass writes: rules with their claims, records, Events and what people see in the state. */
function writtenBy(policy: Policy, wanted: readonly Wanted[], decision: Decision): readonly unknown[] {
  const { plans, layout, records, claims, summary, conditions } = decision;
  const stamps = { shards: layout.shards, changedAt: new Date(0), observed: '1' };
  const rivals = ranked(claims);
  const buckets = Map.groupBy(records, ({ source }) => bucketOf(source, layout.buckets));
  return [
    ...plans.map(({ shard, content }) => writeShard(shard, content, stamps, policy)),
    ...[...buckets].map(([index, part]) =>
      writeBucket(readBucket(index, undefined), {
        records: part,
        buckets: layout.buckets,
        namespace: 'kube-reflex',
        config: policy.config,
      }),
    ),
    ...wanted.flatMap((each) => outcomeEvents(each, { rivals, turned: new Set(), at: new Date(0) })),
    { summary, conditions },
  ];
}
