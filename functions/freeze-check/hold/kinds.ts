import { heldApplications } from './application.ts';
import { heldCronJobs } from './cron-job.ts';
import { heldHelmReleases, heldKustomizations } from './flux.ts';
import type { HeldKind } from './kind.ts';

export type Provider = 'argocd' | 'flux';

export const providers: readonly Provider[] = ['argocd', 'flux'];

/** The kinds that each GitOps provider brings. */
export const kindsOf: Readonly<Record<Provider, readonly HeldKind[]>> = {
  argocd: [heldApplications],
  flux: [heldKustomizations, heldHelmReleases],
};

/** Every kind that a policy may hold still in this installation. */
export function heldKinds(installed: readonly Provider[]): readonly HeldKind[] {
  return [heldCronJobs, ...installed.flatMap((provider) => kindsOf[provider])];
}
