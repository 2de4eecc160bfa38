import { asFailure } from '../base/failure.ts';
import { digestOf, examine, Unfit, type Generation, type KeyPair } from './certificate.ts';
import { configurationsOf, loadPair, type Keeper } from './keeper.ts';
import { measuresOf } from './measures.ts';
import { mayShow, type View } from './order.ts';
import { publish, viewsOf } from './publish.ts';
import { servingKey, type Serving } from './serving.ts';

/** Checks once for a new certificate, and uses it as soon as every API server trusts it. */
export async function pollCertificate(keeper: Keeper): Promise<void> {
  const { context, host } = keeper;
  const serving = context.memory(servingKey);
  const pair = await loadPair(keeper);
  if (pair === undefined) {
    refuse(keeper, serving, { digest: 'none', why: 'there is no certificate yet' });
    return;
  }
  if (digestOf(pair) === serving.generation?.digest) {
    serving.refused = undefined;
    return;
  }
  const candidate = examined(keeper, serving, { pair, host });
  if (candidate === undefined) {
    return;
  }
  const { generation: current } = serving;
  const views = await introduce(keeper, candidate);
  const now = context.now();
  if (mayShow({ current, candidate, views, now, propagationMs: context.config.CA_PROPAGATION_SECONDS * 1000 })) {
    show(keeper, serving, candidate);
  }
}

function examined(
  keeper: Keeper,
  serving: Serving,
  { pair, host }: { readonly pair: KeyPair; readonly host: string },
): Generation | undefined {
  try {
    return examine(pair, { now: keeper.context.now(), host });
  } catch (error) {
    if (!(error instanceof Unfit)) {
      throw error;
    }
    refuse(keeper, serving, { digest: digestOf(pair), why: error.message });
    return undefined;
  }
}

/** Keeps the current certificate; logs each problem once. */
function refuse(
  { context: { metrics, log } }: Keeper,
  serving: Serving,
  { digest, why }: { readonly digest: string; readonly why: string },
): void {
  if (serving.refused === digest) {
    return;
  }
  serving.refused = digest;
  measuresOf(metrics).reloads.add(1, { result: 'refused' });
  log.error({ why, stillShown: serving.generation?.leaf.validTo }, 'certificate refused');
}

/** Publishes the authorities of a new certificate; `undefined` if the API server cannot be reached. */
async function introduce(keeper: Keeper, candidate: Generation): Promise<View[] | undefined> {
  try {
    const found = await configurationsOf(keeper);
    // cert-manager's injector writes the bundle; a second writer would fight with it.
    const published =
      keeper.mode === 'cert-manager'
        ? found
        : await publish(keeper, found, { wanted: candidate.authorities, mayRetire: () => false });
    return viewsOf(keeper, published, candidate.authority);
  } catch (error) {
    const { kind, message } = asFailure(error);
    keeper.context.log.warn({ failure: kind, reason: message }, 'could not publish the authority; will retry');
    return undefined;
  }
}

function show({ context: { metrics, log } }: Keeper, serving: Serving, generation: Generation): void {
  serving.present(generation);
  serving.generation = generation;
  serving.refused = undefined;
  const { reloads, leafExpiry } = measuresOf(metrics);
  reloads.add(1, { result: 'ok' });
  leafExpiry.set(generation.leaf.validToDate.getTime() / 1000);
  log.info({ serial: generation.leaf.serialNumber, until: generation.leaf.validTo }, 'certificate shown');
}
