import type { Ingress } from '../../../lib/kube/model/resource.ts';

const classes = ['nginx', 'other'] as const;

/** Two classes of which the first wins, and one line for each host. */
export const oracleSettings = {
  RENDER_MODE: 'exact',
  INGRESS_CLASS_MAPPINGS: JSON.stringify(
    classes.map((ingressClass) => ({ ingressClass, targetCNAME: `${ingressClass}.infra.svc.cluster.local` })),
  ),
};

/** What the rules should be, found in another way: all Ingresses, all hosts, the first of the sorted claims. */
export function oracle(ingresses: readonly Ingress[]): readonly string[] {
  const claims = ingresses.flatMap(({ metadata, spec }) =>
    (spec?.rules ?? []).map(({ host = '' }) => ({
      host,
      rank: classes.findIndex((name) => name === spec?.ingressClassName),
      created: metadata?.creationTimestamp ?? '',
      name: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    })),
  );
  const hosts = Map.groupBy(
    claims.filter(({ rank }) => rank >= 0),
    ({ host }) => host,
  );
  return [...hosts]
    .map(([host, rivals]) => {
      const [winner] = rivals.sort(
        (a, b) =>
          a.rank - b.rank ||
          Number(a.created > b.created) - Number(a.created < b.created) ||
          (a.name < b.name ? -1 : 1),
      );
      return `rewrite name exact ${host} ${classes[winner?.rank ?? 0] ?? ''}.infra.svc.cluster.local.`;
    })
    .sort();
}

/** The same sequence every time, so that a failure comes again. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Events as a bad day delivers them: one in twenty is lost, one in ten comes twice, and each may be up to 20 places late. */
export function disordered<T>(events: readonly T[], random: () => number): readonly T[] {
  return events
    .filter(() => random() >= 0.05)
    .flatMap((event) => (random() < 0.1 ? [event, event] : [event]))
    .map((event, index) => ({ event, place: index + random() * 20 }))
    .sort((left, right) => left.place - right.place)
    .map(({ event }) => event);
}
