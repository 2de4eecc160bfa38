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

/** Every kind that a policy may hold still in this installation. It has no right to look at others. */
export function heldKinds({ GITOPS_PROVIDERS }: Pick<Config, 'GITOPS_PROVIDERS'>): readonly HeldKind[] {
  return [heldCronJobs, ...gitopsKinds(GITOPS_PROVIDERS)];
}

/** Also those that this installation no longer looks after: it may have held them before. */
export const allKinds: readonly HeldKind[] = [heldCronJobs, ...gitopsKinds(Object.keys(kindsOf))];
