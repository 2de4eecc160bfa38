import { pino } from 'pino';
import type { Definition } from '../../lib/function/definition.ts';
import { standardInstallation } from '../../lib/install/manifests/installation.ts';
import { leave, type LeaveOptions, type Left } from '../../lib/install/release/leave.ts';
import type { Access } from '../../lib/kube/access.ts';
import { createTransport } from '../../lib/kube/transport.ts';

/** Takes a function out of a cluster, as `npm run release` does. */
export async function leaveBy(
  access: Access,
  definition: Definition,
  options: Partial<LeaveOptions> = {},
): Promise<Left> {
  const transport = createTransport(access);
  try {
    return await leave(definition, {
      transport,
      namespace: standardInstallation.namespace,
      environment: {},
      dryRun: false,
      log: pino({ level: 'silent' }),
      now: () => new Date(),
      patienceMs: 10_000,
      ...options,
    });
  } finally {
    transport.close();
  }
}
