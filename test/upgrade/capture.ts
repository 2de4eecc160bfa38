import { existsSync, writeFileSync } from 'node:fs';
import { version } from '../../lib/base/version.ts';
import { keep, sumsFile, sumsOf } from './kept.ts';
import { scenarios as corednsSync } from './scenarios/coredns-sync.ts';
import { scenarios as freezeCheck } from './scenarios/freeze-check.ts';
import { scenarios as istioRollout } from './scenarios/istio-rollout.ts';
import { scenarios as nodeAffinityMutate } from './scenarios/node-affinity-mutate.ts';
import { scenarios as tls } from './scenarios/tls.ts';

const all = {
  'coredns-sync': corednsSync,
  'freeze-check': freezeCheck,
  'istio-rollout': istioRollout,
  'node-affinity-mutate': nodeAffinityMutate,
  tls,
};

/** Keeps what this version writes. */
async function capture(): Promise<void> {
  for (const [name, scenarios] of Object.entries(all)) {
    for (const [scenario, run] of Object.entries(scenarios)) {
      process.stdout.write(`${keep(version, name, scenario, await run())}\n`);
    }
  }
  writeFileSync(sumsFile(version), sumsOf(version));
}

if (existsSync(sumsFile(version))) {
  process.stderr.write(`${version} is kept already, and its files stay as they are\n`);
  process.exitCode = 1;
} else {
  await capture();
}
