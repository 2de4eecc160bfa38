import { digest } from '../../../lib/base/digest.ts';
import type { ConfigMap } from '../../../lib/kube/model/resource.ts';
import { checkFiles, isSound } from '../render/check.ts';
import {
  annotated,
  annotationOf,
  instanceLabel,
  managedBy,
  observedVersion,
  ownerLabels,
} from '../state/annotation.ts';
import { formatClaims, parseClaims, rulesOf, type Claim } from '../claim.ts';
import { stableHash } from '../hash.ts';
import { shardName as mountedName } from '../integration/mount.ts';
import { classesOf } from '../preflight/neighbours.ts';
import { writeConfigMap, type WriteStep } from '../../../lib/kube/model/config-map.ts';
import type { Policy } from '../policy.ts';
import {
  dataExtensions,
  dataKey,
  header,
  rendererVersion,
  renderRules,
  shardKey,
  type Files,
  type Rendering,
  type RenderMode,
} from '../render/render.ts';
import { compareText } from '../../../lib/base/order.ts';
import { hostKey } from '../rule.ts';

/**
 * A rules ConfigMap: the text that CoreDNS imports and, beside it, the claims that the text comes from. Both are one write,
 * so that whoever reads it sees rules that are exactly the winners of those claims, whatever died meanwhile.
 */
export interface Shard {
  readonly index: number;
  readonly object: ConfigMap | undefined;
  /** Undefined where they can't be trusted: the ConfigMap is missing, foreign, edited by hand or of other settings. */
  readonly claims: readonly Claim[] | undefined;
  /** How many shards there were when it was written. */
  readonly of: number;
  readonly owner: 'ours' | 'nobody' | 'other';
  /** Somebody changed what a release like this one wrote; other settings alone change nothing. */
  readonly edited: boolean;
}

/** `dynamic-1.claims`: CoreDNS's glob does not match it, and in a volume of many shards each key is a file of its own. */
function claimsKey({ config }: Policy, index: number): string {
  return dataKey(shardKey(config.DYNAMIC_CONFIG_KEY, index), 'claims');
}

/** Wildcards must be in the file that CoreDNS imports last, which is that of shard 0. */
export function shardOf(host: string, shards: number): number {
  // Salted: the renderer groups hosts by the same hash, and a group must not depend on the number of shards.
  return host.startsWith('*') ? 0 : stableHash(`shard ${host}`) % shards;
}

export function shardName({ rulesName }: Policy, index: number): string {
  return mountedName(rulesName, index);
}

export function readShard(index: number, object: ConfigMap | undefined, policy: Policy): Shard {
  const owner = ownerOf(object, policy);
  const lines = object?.data?.[claimsKey(policy, index)] ?? '';
  const digest = digestOf(rulesIn(object, index, policy), lines, dataIn(object, index, policy));
  const written = annotationOf(object, 'content-sha256') === digest;
  const intact = owner === 'ours' && annotationOf(object, 'mappings') === mappingsDigest(policy) && written;
  return {
    index,
    object,
    owner,
    of: Number(annotationOf(object, 'of') ?? 1),
    claims: intact ? parseClaims(lines) : undefined,
    edited: !written && annotationOf(object, 'generation') === String(rendererVersion),
  };
}

/** The rules as they are, whoever wrote them. */
export function rulesIn(object: ConfigMap | undefined, index: number, { config }: Policy): string {
  return object?.data?.[shardKey(config.DYNAMIC_CONFIG_KEY, index)] ?? '';
}

/** The hosts that its claims name, be they of other settings or not. */
export function claimedHosts(object: ConfigMap | undefined, index: number, policy: Policy): readonly string[] {
  return (parseClaims(object?.data?.[claimsKey(policy, index)] ?? '') ?? []).map(hostKey);
}

/** `<name>-lkg`: where the rules are kept that CoreDNS took last. */
export function lastGoodName(policy: Policy, index: number): string {
  return `${shardName(policy, index)}-lkg`;
}

/** All that CoreDNS sees of it. */
export function filesIn(object: ConfigMap | undefined, index: number, policy: Policy): Files {
  const key = shardKey(policy.config.DYNAMIC_CONFIG_KEY, index);
  return { [key]: rulesIn(object, index, policy), ...dataIn(object, index, policy) };
}

/** Keys of the ConfigMap that are ours. */
export function ownKeys(policy: Policy, index: number): readonly string[] {
  const key = shardKey(policy.config.DYNAMIC_CONFIG_KEY, index);
  return [key, claimsKey(policy, index), ...dataKeys(policy, index)];
}

/** The files beside the rules, as they are. */
function dataIn(object: ConfigMap | undefined, index: number, policy: Policy): Files {
  return Object.fromEntries(
    dataKeys(policy, index).flatMap((key) => {
      const text = object?.data?.[key];
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

function dataKeys({ config }: Policy, index: number): readonly string[] {
  const key = shardKey(config.DYNAMIC_CONFIG_KEY, index);
  return dataExtensions.map((extension) => dataKey(key, extension));
}

/** Belongs to somebody else, and is not to be taken over. */
export function isForeign({ owner }: Shard, { config }: Policy): boolean {
  return owner === 'other' && !config.ADOPT;
}

/** Written by a release whose rendering we do not know. */
export function isNewer({ object }: Shard): boolean {
  return Number(annotationOf(object, 'generation') ?? 0) > rendererVersion;
}

/** What a shard should hold. */
export interface ShardContent {
  readonly claims: readonly Claim[];
  readonly mode: RenderMode;
  /** The key of the rules. */
  readonly key: string;
  /** What CoreDNS imports. */
  readonly rules: string;
  /** Files beside it that it refers to. */
  readonly data: Files;
  /** Hosts that are claimed. */
  readonly hosts: number;
  /** Hosts whose rules failed the last check, and are left out. */
  readonly unsound: number;
}

/** Every text is checked as a whole; a rule that spoils it is left out rather than written. */
export function renderShard(
  index: number,
  claims: readonly Claim[],
  policy: Policy,
  rendering: Rendering,
): ShardContent {
  const key = shardKey(policy.config.DYNAMIC_CONFIG_KEY, index);
  const all = rulesOf(
    claims,
    policy.mappings.map(({ target }) => target),
  );
  const whole = renderRules(all, { ...rendering, key });
  const sound = checkFiles(whole).length === 0 ? all : all.filter((rule) => isSound(rule, rendering));
  const { [key]: rules = '', ...data } = sound === all ? whole : renderRules(sound, { ...rendering, key });
  return { claims, mode: rendering.mode, key, rules, data, hosts: all.length, unsound: all.length - sound.length };
}

/** Of the texts of a shard, its claims included. */
export function bytesOf({ claims, rules, data }: ShardContent): number {
  return sizeOf({ ...data, rules }) + Buffer.byteLength(formatClaims(claims));
}

function sizeOf(files: Files): number {
  return Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

export interface Stamps {
  /** How many shards there are now. */
  readonly shards: number;
  readonly changedAt: Date;
  /** The newest resourceVersion that the claims rest on. */
  readonly observed: string;
}

/** Undefined when nothing of it would change. */
export function writeShard(shard: Shard, content: ShardContent, stamps: Stamps, policy: Policy): WriteStep | undefined {
  const { claims, mode, rules, data, hosts } = content;
  const lines = formatClaims(claims);
  const kept = {
    namespace: policy.config.COREDNS_NAMESPACE,
    name: shardName(policy, shard.index),
    data: {
      [shardKey(policy.config.DYNAMIC_CONFIG_KEY, shard.index)]: rules,
      ...data,
      [claimsKey(policy, shard.index)]: lines,
    },
    obsolete: [...dataKeys(policy, shard.index).filter((key) => !(key in data)), ...formerKeys(shard, policy)],
    labels: ownerLabels(policy.config.INSTANCE),
    annotations: annotated({
      'content-sha256': digestOf(rules, lines, data),
      'render-mode': mode,
      hosts: String(hosts),
      losing: String(claims.length - hosts),
      generation: String(rendererVersion),
      mappings: mappingsDigest(policy),
      classes: classesOf(policy.mappings).join(),
      of: String(stamps.shards),
    }),
  };
  const why = `${hosts} hosts`;
  if (writeConfigMap(shard.object, kept, why) === undefined) {
    return undefined;
  }
  // Stamps ride on a write that happens anyway: they never cause one.
  const riding = annotated({
    'written-at': stamps.changedAt.toISOString(),
    'observed-rv': newest(stamps.observed, String(observedVersion(shard.object))),
    ...(changesRules(shard, content, policy) || isUndone(shard)
      ? { 'changed-at': stamps.changedAt.toISOString() }
      : {}),
  });
  return writeConfigMap(shard.object, { ...kept, annotations: { ...kept.annotations, ...riding } }, why);
}

/** Rules under a key that the settings no longer name: the glob that imports ours may match it, too. */
function formerKeys({ object, index, owner }: Shard, policy: Policy): readonly string[] {
  const own = ownKeys(policy, index);
  const rules = Object.entries(owner === 'ours' ? (object?.data ?? {}) : {}).flatMap(([key, text]) =>
    !own.includes(key) && text.startsWith(`# ${header[0]}\n`) ? [key] : [],
  );
  const beside = ['claims', ...dataExtensions] as const;
  const former = rules.flatMap((key) => [key, ...beside.map((extension) => dataKey(key, extension))]);
  return [...new Set(former).difference(new Set(own))];
}

/** Somebody made something else of it: who does so again and again, be it without touching the rules, waits for his turn. */
function isUndone({ object, claims }: Shard): boolean {
  return object !== undefined && claims === undefined;
}

/** Does CoreDNS get other rules by this? */
export function changesRules({ object, index }: Shard, { rules, data }: ShardContent, policy: Policy): boolean {
  const before = { ...dataIn(object, index, policy), rules: rulesIn(object, index, policy) };
  return object === undefined || digestOf('', '', before) !== digestOf('', '', { ...data, rules });
}

/** Without other rules: a loser came or went. */
export function changesClaims({ object, index }: Shard, { claims }: ShardContent, policy: Policy): boolean {
  return object?.data?.[claimsKey(policy, index)] !== formatClaims(claims);
}

export function changedAt({ object }: Shard): Date | undefined {
  return stampOf(object, 'changed-at');
}

export function writtenAt({ object }: Shard): Date | undefined {
  return stampOf(object, 'written-at') ?? stampOf(object, 'changed-at');
}

function stampOf(object: ConfigMap | undefined, name: 'changed-at' | 'written-at'): Date | undefined {
  const text = annotationOf(object, name);
  const date = new Date(text ?? '');
  return text === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}

/** Of two resourceVersions of one cluster, which have been comparable numbers all along. */
export function newest(left: string, right: string): string {
  return Number(right) > Number(left) ? right : left;
}

/** The claims of other mappings lead elsewhere: they must be made anew. */
function mappingsDigest({ mappings }: Policy): string {
  return digest(JSON.stringify(mappings), 12);
}

function digestOf(rules: string, claims: string, data: Files): string {
  const beside = Object.keys(data)
    .sort(compareText)
    .map((key) => `\0${key}\0${data[key] ?? ''}`);
  return digest(`${rendererVersion}\n${rules}\0${claims}${beside.join('')}`);
}

/** The peer's label names its own manager: that one, and no label at all, may be adopted. */
function ownerOf(object: ConfigMap | undefined, { config }: Policy): Shard['owner'] {
  const { [managedBy]: manager, [instanceLabel]: instance } = object?.metadata?.labels ?? {};
  if (object === undefined) {
    return 'nobody';
  }
  if (manager === 'coredns-sync' && instance === config.INSTANCE) {
    return 'ours';
  }
  return manager === undefined && instance === undefined ? 'nobody' : 'other';
}
