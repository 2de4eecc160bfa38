import type { Policy } from '../policy.ts';

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const name = new RegExp(`^${label}(?:\\.${label})*$`);
const address = /^\d+(?:\.\d+){3}$/;

/** What may surround a name in a rule, a claim, a record or an Event; told apart from names by hand, not by the product's check. */
const separators = /[\s,|]+/;

/** Pieces of written objects that are neither words of ours nor names as the specification has them. */
export function foreignTo({ mappings }: Policy, written: readonly unknown[]): readonly string[] {
  const targets = new Set(mappings.map(({ target }) => target));
  return textsIn(written).flatMap((text) =>
    text
      .split(separators)
      .filter((piece) => !isOurs(piece) && !isName(bare(piece)) && !targets.has(piece))
      .map((piece) => JSON.stringify(piece.slice(0, 80))),
  );
}

function isName(text: string): boolean {
  return text.length <= 253 && name.test(text) && !address.test(text);
}

/** A name without what marks it as a pattern or a wildcard, or puts it into brackets or quotes. */
function bare(piece: string): string {
  return piece
    .replaceAll('\\.', '.')
    .replace(/^\(/, '')
    .replace(/[):]$/, '')
    .replace(/^\^(?:\[a-z0-9-\]\[a-z0-9_-\]\*\.|\(\?:\[a-z0-9-\]\[a-z0-9_-\]\*\.\)\+)?(?:\(\?:)?/, '')
    .replace(/^\(\?:/, '')
    .replace(/\)?\.\$$/, '')
    .replace(/\."$/, '')
    .replace(/:1053$/, '')
    .replace(/\.$/, '')
    .replace(/^\*\*?\./, '');
}

/** Words that are part of every rendering, record or message, whatever the hosts are. */
function isOurs(piece: string): boolean {
  return (
    piece === '' ||
    ours.has(piece) ||
    numbers.test(piece) ||
    objects.test(piece) ||
    kinds.test(piece) ||
    depths.test(piece)
  );
}

const numbers = /^-?[0-9a-z]{1,16}$/;
/** So many labels, in a server block that is named after a host. */
const depths =
  /^\^(?:\[a-z0-9-\]\[a-z0-9_-\]\*\\\.|\(\?:\[a-z0-9-\]\[a-z0-9_-\]\*\\\.\)\+)?\(\?:\[\^\.\]\+\\\.\)\{\d+\}\$$/;
const objects = /^\(?(?:Ingress|IngressRoute|HTTPRoute|GRPCRoute|TLSRoute)\/shop\/web-\d+\)?:?$/;
const kinds = /^(?:[a-z0-9.-]+\/)?v\d[a-z0-9]*$|^[0-9a-f]{12,64}$|^1970-01-01T00:00:00\.000Z$/;

const ours = new Set(
  [
    '# Kept by coredns-sync (kube-reflex.dev): hosts of this cluster and where they lead. Edits are undone.',
    'rewrite name exact regex answer auto template IN A AAAA { } match "{{ .Question.Name }} 30 CNAME fallthrough >',
    'hosts /etc/coredns/custom/coredns-ingress-sync/dynamic.hosts fd00::80 . no_reverse fallthrough_unsupported',
    'file /etc/coredns/custom/coredns-ingress-sync/dynamic.zone forward /etc/resolv.conf SOA ;',
    'Ingress IngressRoute HTTPRoute GRPCRoute TLSRoute ConfigMap Normal Warning more: and index of objects hosts',
    'HostSynced HostConflict HostProtected HostRejected resolves inside the cluster: belongs to an object that ranks higher:',
    'not a DNS name: labels of 1 to 63 letters digits and inner hyphens at most 253 bytes in all: all refused',
    'an IP address not a name: name itself leads to target or covers one: one',
    'a wildcard of a domain with too few labels: domain that may be claimed: claimed address',
    'Ingress/nginx Gateway/shared', // the classes of the settings
  ]
    .join(' ')
    .split(separators),
);

/** Every string in a value, and every key of an object's data. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
