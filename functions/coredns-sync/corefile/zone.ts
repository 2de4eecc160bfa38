import { isWithin } from '../host.ts';
import type { Host } from '../rule.ts';
import type { Configuration, ServerBlock } from './parse.ts';

/** What a key of a server block says, for plain DNS. */
export interface ZoneKey {
  /** Without its final dot; empty for the root. */
  readonly zone: string;
  readonly port: number;
}

/** The port of CoreDNS unless a key names another. */
const defaultPort = 53;

/** Undefined for other transports, for reverse zones in CIDR form, and for what the environment decides. */
export function parseKey(text: string): ZoneKey | undefined {
  const [, scheme, zone, port] = /^(?:([a-z0-9]+):\/\/)?([^:/{}%$]+)(?::(\d+))?$/i.exec(text) ?? [];
  if (zone === undefined || (scheme !== undefined && scheme.toLowerCase() !== 'dns')) {
    return undefined;
  }
  return { zone: zone.toLowerCase().replace(/\.$/, ''), port: port === undefined ? defaultPort : Number(port) };
}

/** The zones that a block serves over plain DNS. */
export function zonesOf({ keys }: ServerBlock): readonly ZoneKey[] {
  return keys.flatMap(({ text }) => parseKey(text) ?? []);
}

/** The port that the cluster asks: 53 if anything serves there, else that of the first root block. */
export function servingPort({ blocks }: Configuration): number | undefined {
  const keys = blocks.flatMap(zonesOf);
  return keys.some(({ port }) => port === defaultPort) ? defaultPort : keys.find(({ zone }) => zone === '')?.port;
}

/** Must the block answer for any of the hosts? The root always; another zone when a host is within it or covers it. */
export function concerns(block: ServerBlock, hosts: readonly Host[]): boolean {
  return zonesOf(block).some(({ zone }) => zone === '' || hosts.some((host) => meets(host, zone)));
}

/** Is the host within the zone, or does it cover the zone? */
export function meets({ host, match }: Host, zone: string): boolean {
  return isWithin(host, zone) || (match !== 'exact' && isWithin(zone, host));
}

/**
 * Can a question be turned into one for the target and be answered in the same block? Rewritten questions are not given to
 * other blocks.
 */
export function resolves(block: ServerBlock, target: string, clusterDomain: string): boolean {
  const name = target.replace(/\.$/, '');
  return (
    clusterZonesOf(block).some((zone) => zone === '' || isWithin(name, zone)) ||
    (!isWithin(name, clusterDomain) && block.directives.some((directive) => directive.name.text === 'forward'))
  );
}

/** The zones that a block answers from the cluster: those of its `kubernetes`, or its own. */
export function clusterZonesOf(block: ServerBlock): readonly string[] {
  const kubernetes = block.directives.filter((directive) => directive.name.text === 'kubernetes');
  return kubernetes.flatMap(({ words }) => {
    const given = words.filter((word) => word !== '{').map((word) => word.toLowerCase().replace(/\.$/, ''));
    return given.length === 0 ? zonesOf(block).map(({ zone }) => zone) : given;
  });
}
