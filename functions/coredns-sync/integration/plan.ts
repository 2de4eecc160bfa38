import { addImportAfter, addImports, imports } from '../corefile/import.ts';
import { putInline } from '../corefile/inline.ts';
import { parseCorefile } from '../corefile/parse.ts';
import { blocksPattern, frameOf, importsBlocks, rootBlockOf } from './blocks.ts';
import { corefilePatch, invalid, isReading, ownImport, readCorefile, type Reading } from './corefile.ts';
import { blindFacts, factsOf } from './facts.ts';
import { isRolledOut, observeMount, planMount } from './mount.ts';
import { planNodeLocal } from './node-local.ts';
import type { DnsCondition, DnsFacts, DnsObjects, Integration, IntegrationOptions, IntegrationStep } from './types.ts';
import type { Host } from '../rule.ts';

/**
 * What CoreDNS lacks to answer from our rules, as steps, and what stands in the way, as conditions. One step at a time where
 * order matters: the volume first, the import once every pod has it.
 */
export function planIntegration(
  observed: DnsObjects,
  options: IntegrationOptions,
  hosts: readonly Host[],
): Integration {
  const reading = readCorefile(observed, options, hosts);
  const mount = observed.deployment === undefined ? undefined : observeMount(observed.deployment, options);
  const nodeLocal = planNodeLocal(observed, options, hosts);
  const targets = adviceOnTargets(observed);
  if (!isReading(reading)) {
    const conditions = [reading, ...targets.conditions, ...nodeLocal.conditions];
    return { facts: blindFacts(observed, mount, options), steps: permitted(nodeLocal.steps, options), conditions };
  }
  const facts = factsOf(reading, mount, observed, options);
  const parts = [adviceOn(reading), planPlacement(facts, reading, observed, options), targets, nodeLocal];
  return {
    facts,
    steps: permitted(
      parts.flatMap(({ steps }) => steps),
      options,
    ),
    conditions: parts.flatMap(({ conditions }) => conditions),
  };
}

/** The Corefile with the rules inside it, for `inline`. Undefined when it has them already. */
export function planInline(
  observed: DnsObjects,
  options: IntegrationOptions,
  rules: { readonly hosts: readonly Host[]; readonly text: string },
): Omit<Integration, 'facts'> {
  const reading = readCorefile(observed, options, rules.hosts);
  if (!isReading(reading) || observed.corefile === undefined) {
    return { steps: [], conditions: isReading(reading) ? [] : [reading] };
  }
  try {
    const { text, files, wanted } = reading;
    const edited = putInline(text, files, wanted, { text: rules.text, position: options.importPosition });
    const step = corefilePatch(observed.corefile, edited, `${rules.hosts.length} hosts`);
    return { steps: edited === text ? [] : [{ component: 'import_statement', step }], conditions: [] };
  } catch (error) {
    return { steps: [], conditions: [invalid(error)] };
  }
}

type Part = Omit<Integration, 'facts'>;

function permitted(steps: readonly IntegrationStep[], { configure }: IntegrationOptions): readonly IntegrationStep[] {
  return configure ? steps : [];
}

function planPlacement(facts: DnsFacts, reading: Reading, observed: DnsObjects, options: IntegrationOptions): Part {
  if (facts.mode === 'none') {
    return { steps: [], conditions: [] };
  }
  if (facts.placement.kind === 'custom') {
    return notKept(facts, options, `the key ${facts.placement.key} of the ConfigMap ${facts.placement.configMap}`);
  }
  if (facts.mode === 'custom-configmap') {
    const message =
      'no server block imports *.override or *.include of coredns-custom; INTEGRATION_MODE=auto finds another way';
    return { steps: [], conditions: [{ type: 'NotConfigured', message }] };
  }
  if (!reading.configuration.blocks.some(reading.wanted)) {
    const message = `no server block for the root zone can answer our hosts${facts.redispatch ? ' by rewriting; RENDER_MODE=template would do' : ''}`;
    return { steps: [], conditions: [{ type: 'NoEligibleBlock', message }] };
  }
  if (facts.mode === 'inline') {
    return notKept(facts, options, 'the Corefile');
  }
  return options.configure ? planImport(facts, reading, observed, options) : notConfigured(facts, observed, options);
}

/** Volume, then rollout, then import: CoreDNS would take the import before the volume too, but shows nothing for it. */
function planImport(facts: DnsFacts, reading: Reading, observed: DnsObjects, options: IntegrationOptions): Part {
  const { deployment, corefile } = observed;
  if (deployment === undefined || corefile === undefined) {
    const message = 'CoreDNS has no Deployment that we can see, so the rules can not be mounted';
    return { steps: [], conditions: [{ type: 'Unsupported', message }] };
  }
  const { conflict } = observeMount(deployment, options);
  if (conflict !== undefined) {
    return { steps: [], conditions: [{ type: 'MountConflict', message: conflict }] };
  }
  const mount = planMount(deployment, options);
  const steps: readonly IntegrationStep[] = mount === undefined ? [] : [{ component: 'volume_mount', step: mount }];
  const waits = !facts.mount || (!facts.imported && !isRolledOut(deployment));
  if (waits) {
    return { steps, conditions: [rollingOut] };
  }
  try {
    const edited = addBlocks(
      addImports(reading.text, reading.files, reading.wanted, ownImport(options)),
      reading,
      options,
    );
    const step = corefilePatch(corefile, edited, 'CoreDNS imports the rules');
    return {
      steps:
        edited === reading.text
          ? steps
          : [...steps, { component: 'import_statement', step, adds: missingIn(reading, options) }],
      conditions: [],
    };
  } catch (error) {
    return { steps, conditions: [invalid(error)] };
  }
}

function missingIn({ configuration, wanted }: Reading, options: IntegrationOptions): string {
  const own = ownImport(options);
  const lacking = configuration.blocks.filter((block) => wanted(block) && !imports(block, own));
  return JSON.stringify([own.pattern, lacking.map(({ keys }) => keys.map(({ text }) => text))]);
}

/** With `zoneblocks` one more import, beside the blocks. It stays when the mode changes, since an empty one does no harm. */
function addBlocks(text: string, reading: Reading, options: IntegrationOptions): string {
  if (
    options.renderMode !== 'zoneblocks' ||
    importsBlocks(reading, options) ||
    frameOf(reading, options) === undefined
  ) {
    return text;
  }
  const root = rootBlockOf({ ...reading, configuration: parseCorefile(text, reading.files) });
  return addImportAfter(text, reading.files, { close: root?.close }, { pattern: blocksPattern(options) });
}

const rollingOut: DnsCondition = {
  type: 'RollingOut',
  message: 'CoreDNS rolls out with the volume; the import follows',
};

/** Rules that belong into somebody else's ConfigMap: nobody else brings them there. */
function notKept({ imported }: DnsFacts, { configure }: IntegrationOptions, place: string): Part {
  const what = imported ? `nobody keeps the rules in ${place} up to date` : `the rules are not in ${place}`;
  const message = `${what}, where CoreDNS would read them; COREDNS_AUTO_CONFIGURE=true puts them there`;
  return { steps: [], conditions: configure ? [] : [{ type: 'NotConfigured', message }] };
}

function notConfigured(
  { imported, volume, mount }: DnsFacts,
  { deployment }: DnsObjects,
  options: IntegrationOptions,
): Part {
  const missing = Object.entries({ import: imported, volume, mount }).flatMap(([what, there]) => (there ? [] : [what]));
  const message = `CoreDNS lacks the ${missing.join(', ')}; COREDNS_AUTO_CONFIGURE=true adds what is missing`;
  const conflict = deployment === undefined ? undefined : observeMount(deployment, options).conflict;
  return {
    steps: [],
    conditions: [
      ...(missing.length === 0 ? [] : [{ type: 'NotConfigured' as const, message }]),
      ...(conflict === undefined ? [] : [{ type: 'MountConflict' as const, message: conflict }]),
    ],
  };
}

function adviceOn({ configuration, wanted }: Reading): Part {
  const blocks = configuration.blocks.filter(wanted);
  const reloads = configuration.blocks.some(({ directives }) => directives.some(({ name }) => name.text === 'reload'));
  const message = 'the Corefile has no reload: CoreDNS sees new rules only after a restart';
  return { steps: [], conditions: blocks.length > 0 && !reloads ? [{ type: 'NoReload', message }] : [] };
}

/** Rules that lead to a Service that is not there help nobody, but taking them away would not either. */
function adviceOnTargets({ targets = new Map() }: DnsObjects): Part {
  const missing = [...targets].flatMap(([target, service]) => (service === 'missing' ? [target] : []));
  const message = `no Service behind ${missing.join(', ')}`;
  return { steps: [], conditions: missing.length === 0 ? [] : [{ type: 'TargetMissing', message }] };
}
