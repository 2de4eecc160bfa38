import { pointer, unchanged, type Step } from '../../../lib/kube/model/plan.ts';
import { configMaps, type ConfigMap } from '../../../lib/kube/model/resource.ts';
import { removeImports } from '../corefile/import.ts';
import { removeInline } from '../corefile/inline.ts';
import { CorefileError } from '../corefile/parse.ts';
import { blocksPattern } from './blocks.ts';
import { corefilePatch, ownImport } from './corefile.ts';
import { customConfigMap } from './detect.ts';
import { planUnmount } from './mount.ts';
import { removeStubDomains } from './node-local.ts';
import type { DnsObjects, IntegrationOptions } from './types.ts';

/** One thing that we left in the cluster's DNS. Without a step it is absent; with a problem it can't be removed by us. */
export interface Removal {
  readonly what: 'import' | 'mount' | 'custom key' | 'stub domains';
  readonly step?: Step;
  readonly problem?: string;
}

/** Takes back all that `planIntegration` ever did, in the order in which CoreDNS stays able to start at every moment. */
export function planRemoval(observed: DnsObjects, options: IntegrationOptions): readonly Removal[] {
  const { deployment, custom, kubeDns } = observed;
  const removals: readonly Removal[] = [
    removeText(observed, options),
    { what: 'custom key', ...step(removeCustomKeys(custom)) },
    { what: 'mount', ...step(deployment === undefined ? undefined : planUnmount(deployment, options)) },
    { what: 'stub domains', ...step(removeStubDomains(kubeDns?.configMap)) },
  ];
  return options.configure ? removals : removals.map(leaveToOthers);
}

/** Where we may not configure, it was somebody else: and while it is there, CoreDNS may need the rules to start. */
function leaveToOthers({ what, step: planned, problem }: Removal): Removal {
  const message = 'is not ours to remove: take it out by hand, or set COREDNS_AUTO_CONFIGURE=true';
  return planned === undefined && problem === undefined ? { what } : { what, problem: problem ?? message };
}

function removeText({ corefile }: DnsObjects, options: IntegrationOptions): Removal {
  const text = corefile?.data?.['Corefile'];
  if (corefile === undefined || text === undefined) {
    return { what: 'import' };
  }
  try {
    const bare = removeImports(removeImports(text, ownImport(options)), { pattern: blocksPattern(options) });
    const edited = removeInline(bare);
    return { what: 'import', ...step(edited === text ? undefined : corefilePatch(corefile, edited, 'cleanup')) };
  } catch (error) {
    if (error instanceof CorefileError) {
      return { what: 'import', problem: error.message };
    }
    throw error;
  }
}

function removeCustomKeys(custom: ConfigMap | undefined): Step | undefined {
  const keys = ['coredns-sync.override', 'coredns-sync.include'].filter((key) => custom?.data?.[key] !== undefined);
  if (custom === undefined || keys.length === 0) {
    return undefined;
  }
  const operations = [unchanged(custom), ...keys.map((key) => ({ op: 'remove' as const, path: pointer('data', key) }))];
  const { namespace = '' } = custom.metadata ?? {};
  return { do: 'patch', resource: configMaps, namespace, name: customConfigMap, operations, why: 'cleanup' };
}

function step(planned: Step | undefined): { readonly step?: Step } {
  return planned === undefined ? {} : { step: planned };
}
