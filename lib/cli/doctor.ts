import { parseArgs } from 'node:util';
import { examineFunction } from '../install/doctor/examine.ts';
import { isHealthy, tableOf, type Finding } from '../runtime/doctor/finding.ts';
import { createKube } from '../kube/client.ts';
import { createTransport } from '../kube/transport.ts';
import { createLog } from '../base/log.ts';
import { standardInstallation } from '../install/manifests/installation.ts';
import { chosenCluster } from './cluster.ts';
import { ownFunctions } from './functions.ts';

const usage = `usage: npm run doctor -- [--kubeconfig FILE] [--namespace NAMESPACE] [--json] [FUNCTION…]
  tells what keeps events from reaching the functions of a cluster, and what to do; it changes nothing
  --kubeconfig  default: as kubectl, that is KUBECONFIG, else ~/.kube/config, else the cluster of this pod
  exit code 0: healthy, 1: at least one error, 2: the cluster could not be asked`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string', default: standardInstallation.namespace },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const found = await ownFunctions();
  const unknown = positionals.find((name) => !found.some(({ definition }) => definition.name === name));
  if (unknown !== undefined) {
    throw new Error(`there is no function ${JSON.stringify(unknown)}\n${usage}`);
  }
  const { access, origin } = chosenCluster(values.kubeconfig, process.env);
  const transport = createTransport(access);
  try {
    const tell = values.json ? console.error : console.log; // a script reads nothing but JSON
    tell(`looking at ${(await transport.server()).href} (${origin})`);
    await transport.send({ method: 'GET', path: '/version' }); // one that does not answer is no finding about a function
    const log = createLog({ level: 'silent', readable: false });
    const kube = createKube({ transport, log, fieldManager: 'kube-reflex.dev/doctor', now: () => new Date() });
    const findings: Finding[] = [];
    for (const { definition } of found) {
      if (positionals.length === 0 || positionals.includes(definition.name)) {
        const patient = { kube, transport, namespace: values.namespace, now: new Date() };
        findings.push(...(await examineFunction(definition, patient)));
      }
    }
    console.log(values.json ? JSON.stringify(findings, undefined, 2) : tableOf(findings));
    process.exitCode = isHealthy(findings) ? 0 : 1;
  } finally {
    transport.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(`doctor: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}
