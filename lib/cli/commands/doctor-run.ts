import { styleText } from 'node:util';
import { createLog } from '../../base/log.ts';
import { examineFunction } from '../../install/doctor/examine.ts';
import { createKube } from '../../kube/client.ts';
import { isHealthy, tableOf, type Finding } from '../../runtime/doctor/finding.ts';
import { withCluster } from '../cluster.ts';
import type { Outcome } from '../framework/command.ts';
import { chosenFunctions } from '../functions.ts';
import type { DoctorInput } from './doctor.ts';

export async function run({ options, positionals, environment, colour, note }: DoctorInput): Promise<Outcome> {
  const chosen = await chosenFunctions(positionals);
  return withCluster({ kubeconfig: options.kubeconfig, environment }, async ({ transport, description }) => {
    note(`looking at ${description}`);
    const log = createLog({ level: 'silent', readable: false });
    const kube = createKube({ transport, log, fieldManager: 'kube-reflex.dev/doctor', now: () => new Date() });
    const findings: Finding[] = [];
    for (const { definition } of chosen) {
      const patient = { kube, transport, namespace: options.namespace, now: new Date() };
      findings.push(...(await examineFunction(definition, patient)));
    }
    return {
      code: isHealthy(findings) ? 0 : 1,
      text: tableOf(findings, colour ? coloured : undefined),
      data: findings,
    };
  });
}

const colours = { ok: 'green', warning: 'yellow', error: 'red', unknown: 'gray' } as const;

function coloured(state: Finding['state'], cell: string): string {
  return styleText(colours[state], cell, { validateStream: false });
}
