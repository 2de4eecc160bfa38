import { posix } from 'node:path';
import { pointer, unchanged, type PatchStep } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import type { OwnImport } from '../corefile/import.ts';
import {
  CorefileError,
  corefilePath,
  parseCorefile,
  type Configuration,
  type KnownFiles,
  type ServerBlock,
} from '../corefile/parse.ts';
import { concerns, resolves, servingPort, zonesOf } from '../corefile/zone.ts';
import { shardKey } from '../render/render.ts';
import { compareText } from '../../../lib/base/order.ts';
import type { Host } from '../rule.ts';
import { customDirectory, knownFiles } from './detect.ts';
import type { DnsCondition, DnsObjects, IntegrationOptions } from './types.ts';

/** The live Corefile and the blocks of it that must answer our hosts. */
export interface Reading {
  readonly text: string;
  readonly files: KnownFiles;
  readonly configuration: Configuration;
  /** Is this one of the blocks that must import our rules? Asked of the blocks of this and of an edited text. */
  readonly wanted: (block: ServerBlock) => boolean;
  /** Can the block resolve every target by itself? */
  readonly isAble: (block: ServerBlock) => boolean;
  /** A block that must answer our hosts is not able to. */
  readonly redispatch: boolean;
  /** Zones with a block of their own that none of our hosts concerns. */
  readonly idle: readonly string[];
  /** CoreDNS imports files that may hold anything: nobody showed them to us. */
  readonly unseen: boolean;
}

export function readCorefile(
  observed: DnsObjects,
  options: IntegrationOptions,
  hosts: readonly Host[],
): Reading | DnsCondition {
  const text = observed.corefile?.data?.['Corefile'];
  if (text === undefined) {
    return observed.deployment === undefined && observed.corefile === undefined
      ? { type: 'Unsupported', message: 'this cluster has no CoreDNS that we can see; rules are written all the same' }
      : { type: 'NoCorefile', message: 'there is no ConfigMap with a key Corefile; rules are written all the same' };
  }
  const files = knownFiles(observed.custom, observed.deployment);
  try {
    const configuration = parseCorefile(text, files);
    const unseen = configuration.unknown.some((path) => !isShown(path, observed, options));
    return { text, files, configuration, unseen, ...select(configuration, options, hosts) };
  } catch (error) {
    return invalid(error);
  }
}

/** In our own directory or in that of `coredns-custom` there is nothing but what we know. */
function isShown(path: string, { customHidden, deployment }: DnsObjects, { mountPath }: IntegrationOptions): boolean {
  const directory = posix.dirname(path);
  return directory === mountPath || (customHidden !== true && directory === customDirectory(deployment));
}

export function isReading(outcome: Reading | DnsCondition): outcome is Reading {
  return 'text' in outcome;
}

/** What is wrong with a text that we can't read or must not edit. */
export function invalid(error: unknown): DnsCondition {
  if (error instanceof CorefileError) {
    return { type: 'InvalidCorefile', message: error.message };
  }
  throw error;
}

export function ownImport({ mountPath, rulesKey, maxShards, importPosition }: IntegrationOptions): OwnImport {
  const extension = rulesKey.slice(rulesKey.lastIndexOf('.'));
  return {
    pattern: `${mountPath}/*${extension}`,
    paths: Array.from({ length: maxShards }, (_, shard) => `${mountPath}/${shardKey(rulesKey, shard)}`),
    position: importPosition,
  };
}

export function corefilePatch(corefile: ConfigMap, text: string, why: string): PatchStep {
  const { namespace = '', name = '' } = corefile.metadata ?? {};
  const operations = [unchanged(corefile), { op: 'replace' as const, path: pointer('data', 'Corefile'), value: text }];
  return { do: 'patch', resource: configMaps, namespace, name, operations, why };
}

/**
 * The blocks on the port of the cluster's DNS that concern our hosts. Rules that rewrite a question qualify only for blocks
 * that resolve every target themselves; `auto` turns to rules that don't rewrite when one of them can't.
 */
function select(
  configuration: Configuration,
  { targets, clusterDomain, renderMode }: IntegrationOptions,
  hosts: readonly Host[],
): Pick<Reading, 'wanted' | 'isAble' | 'redispatch' | 'idle'> {
  function isAble(block: ServerBlock): boolean {
    return targets.every((target) => resolves(block, target, clusterDomain));
  }
  const port = servingPort(configuration);
  function isEligible(block: ServerBlock): boolean {
    // Blocks of imported files are not ours to edit: they must neither get an import nor decide where rules are kept.
    const isHere = block.keys[0]?.file === corefilePath;
    return isHere && zonesOf(block).some((key) => key.port === port);
  }
  function isConcerned(block: ServerBlock): boolean {
    return isEligible(block) && concerns(block, hosts);
  }
  const rewrites = renderMode === 'exact' || renderMode === 'grouped';
  const idle = configuration.blocks.filter((block) => isEligible(block) && !concerns(block, hosts));
  return {
    wanted: (block) => isConcerned(block) && (!rewrites || isAble(block)),
    isAble,
    redispatch: configuration.blocks.filter(isConcerned).some((block) => !isAble(block)),
    idle: [...new Set(idle.flatMap(zonesOf).map(({ zone }) => zone))].sort(compareText),
  };
}
