import type { Config } from '../config.ts';
import { heldApplications } from './application.ts';
import { heldCronJobs } from './cron-job.ts';
import { heldHelmReleases, heldKustomizations } from './flux.ts';
import type { HeldKind } from './kind.ts';

/** The kinds that each GitOps provider brings. */
const kindsOf: Readonly<Record<string, readonly HeldKind[]>> = {
  argocd: [heldApplications],
  flux: [heldKustomizations, heldHelmReleases],
};

/** The kinds of the named GitOps providers. */
export function gitopsKinds(providers: readonly string[]): readonly HeldKind[] {
  return Object.entries(kindsOf).flatMap(([name, kinds]) => (providers.includes(name) ? kinds : []));
}

/**
 * Every kind that a policy may hold still in this installation. Who takes a provider off the list while a freeze is on gets
 * its objects back; only with no provider at all nothing of GitOps is looked at.
 */
export function heldKinds({ GITOPS_PROVIDERS }: Pick<Config, 'GITOPS_PROVIDERS'>): readonly HeldKind[] {
  const listed = gitopsKinds(GITOPS_PROVIDERS);
  const all = listed.length === 0 ? [] : gitopsKinds(Object.keys(kindsOf));
  return [heldCronJobs, ...all.map((kind) => (listed.includes(kind) ? kind : givenBack(kind)))];
}

/** No policy gets any of it. */
function givenBack(kind: HeldKind): HeldKind {
  return { ...kind, selectedBy: () => undefined };
}

/** Also those that this installation no longer looks after: it may have held them before. */
export const allKinds: readonly HeldKind[] = [heldCronJobs, ...gitopsKinds(Object.keys(kindsOf))];
