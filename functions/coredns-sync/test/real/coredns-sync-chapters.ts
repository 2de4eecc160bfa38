import { managedBy, instanceLabel } from '../../state/annotation.ts';
import type { Environment } from '../../../../lib/function/config.ts';
import { standardInstallation } from '../../../../lib/install/manifests/installation.ts';
import type { Body } from '../../../../lib/sandbox/test/contract/client.ts';
import { expectCode } from '../../../../lib/sandbox/test/contract/scratch.ts';
import { rulesName } from '../world.ts';
import type { Event } from '../../../../test/support/http.ts';
import {
  changed,
  ingressChanged,
  ingressesPath,
  manifest,
  rulesPath,
  systemConfigMaps,
  theCorefile,
  theDeployment,
  ticking,
  type CoreDnsSyncSite,
} from './coredns-sync-site.ts';
import { pathOf } from '../../../../test/support/manifests.ts';

/** Hosts that are valid all the time. */
export const stable = Array.from({ length: 30 }, (_, index) => `stable-${index}.example.com`);

/** Something that a process does in several writes, and that can be played again and again. */
export interface Chapter {
  readonly what: string;
  /** Writes that it has at least: with fewer it would not show what it says. */
  readonly least: number;
  readonly environment?: Environment;
  /** Leads to where it begins, with the next tick. */
  readonly prepare: (site: CoreDnsSyncSite) => Promise<void>;
  /** What happens, and what the process is told of it. */
  readonly play: (site: CoreDnsSyncSite, tell: (event: Event) => Promise<void>) => Promise<void>;
}

const many = hosts('many', 60);

const changingHosts: Chapter = {
  what: 'hosts come, move, change hands and go',
  least: 9,
  prepare: async ({ put, remove }) => {
    await remove(`${ingressesPath}/coming`);
    await put('moving', ['moving.example.com']);
    await put('going', ['going.example.com', 'stable-1.example.com']);
  },
  play: async ({ put, remove }, tell) => {
    await put('coming', ['coming.example.com', 'moving.example.com'], 'other');
    await tell(ingressChanged('coming'));
    await put('moving', ['moved.example.com']);
    await tell(ingressChanged('moving'));
    await remove(`${ingressesPath}/going`);
    await tell(ingressChanged('going'));
  },
};

const owing: Chapter = {
  what: 'events are answered before their rules are written',
  least: 6,
  environment: { MIN_WRITE_INTERVAL_MS: '60000' },
  prepare: async ({ put }) => {
    await put('early', ['early.example.com']);
    await put('earlier', ['earlier.example.com']);
  },
  play: async ({ put }, tell) => {
    await put('earlier', hosts('earlier', 9));
    await tell(ingressChanged('earlier'));
    await put('early', hosts('early', 9));
    await tell(ingressChanged('early'));
  },
};

const spreading: Chapter = {
  what: 'the rules spread over more ConfigMaps',
  least: 6,
  prepare: ({ put }) => put('many', many.slice(0, 1)),
  play: async ({ put }, tell) => {
    await put('many', many);
    await tell(ingressChanged('many'));
  },
};

const drawingTogether: Chapter = {
  what: 'the rules draw together',
  least: 6,
  prepare: ({ put }) => put('many', many),
  play: async ({ put }, tell) => {
    await put('many', many.slice(0, 1));
    await tell(ticking);
  },
};

const undoingAnEdit: Chapter = {
  what: 'somebody has edited the rules',
  least: 1,
  prepare: () => Promise.resolve(),
  play: async ({ read, merge }, tell) => {
    const { data } = await read(rulesPath);
    const text = `${data?.['dynamic.server'] ?? ''}rewrite name exact forged.example.com forged.infra.svc.cluster.local.\n`;
    await merge(rulesPath, { data: { 'dynamic.server': text } });
    await tell(changed({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: rulesName }));
  },
};

const takingOver: Chapter = {
  what: 'it takes over from the Go operator and configures CoreDNS',
  least: 8,
  environment: { EMIT_EVENTS: 'false' }, // or most writes would be those about each Ingress
  prepare: () => Promise.resolve(),
  play: async (site, tell) => {
    await leaveToThePeer(site);
    await tell(ticking);
    await site.rollOut();
    await tell(ticking);
  },
};

export const chapters = [changingHosts, owing, spreading, drawingTogether, undoingAnEdit, takingOver];

/** Something that happens to an Ingress, and what tells of it. */
export interface Change {
  readonly make: () => Promise<void>;
  readonly event: Event;
}

/** Additions, moves, changes of class and removals; rules spread out and draw together again. */
export function changesOf({ put, remove }: CoreDnsSyncSite, round: number): readonly Change[] {
  function puts(name: string, names: readonly string[], className?: string): Change {
    return { make: () => put(name, names, className), event: ingressChanged(name) };
  }
  function removes(name: string): Change {
    return { make: () => remove(`${ingressesPath}/${name}`), event: ingressChanged(name) };
  }
  const [one, two] = [`one-${round}`, `two-${round}`];
  return [
    puts(one, [`${one}.example.com`, 'shared.example.com']),
    puts(two, [`${two}.example.com`, 'stable-1.example.com'], 'other'),
    puts(one, [`moved-${round}.example.com`]),
    puts(two, [`${two}.example.com`, 'shared.example.com']),
    puts('many', round % 2 === 1 ? many : many.slice(0, 1)),
    ...(round > 1 ? [removes(`one-${round - 1}`), removes(`two-${round - 1}`)] : []),
  ];
}

function hosts(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}.example.com`);
}

/** As if this function had never been there, and the operator served the hosts that stay; none is missing meanwhile. */
async function leaveToThePeer({ client, read, remove }: CoreDnsSyncSite): Promise<void> {
  const lines = stable.map((host) => `rewrite name exact ${host} nginx.infra.svc.cluster.local.\n`);
  const rules = manifest('v1', 'ConfigMap', {
    metadata: {
      namespace: 'kube-system',
      name: rulesName,
      labels: { [managedBy]: 'coredns-ingress-sync', [instanceLabel]: 'coredns-ingress-sync' },
    },
    data: { 'dynamic.server': `# Auto-generated by coredns-ingress-sync controller\n${lines.join('')}` },
  });
  for (const object of [rules, theCorefile, theDeployment]) {
    expectCode(200, await client.call('PUT', pathOf(object), { body: object }));
  }
  const own = `/api/v1/namespaces/${standardInstallation.namespace}/configmaps`;
  for (const [collection, prefix] of [
    [systemConfigMaps, `${rulesName}-`],
    [own, 'coredns-sync-'],
  ] as const) {
    const { items = [] } = await read(collection);
    await Promise.all(
      items
        .map(nameOf)
        .filter((name) => name.startsWith(prefix))
        .map((name) => remove(`${collection}/${name}`)),
    );
  }
}

function nameOf({ metadata }: Body): string {
  return metadata?.name ?? '';
}
