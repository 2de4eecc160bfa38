import type { Access } from '../../../lib/kube/access.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import { startKillingProxy, type Death } from '../../../test/real/support/killing-proxy.ts';

/** A way to the sandbox that ends at a given write, as for a process that is killed there: nothing of it arrives after that. */
export interface Mortal extends AsyncDisposable {
  readonly access: Access;
  readonly dead: () => boolean;
}

export async function mortalAccess({ httpUrl }: Sandbox, death: Death): Promise<Mortal> {
  const proxy = await startKillingProxy({ url: httpUrl });
  // It runs in this process, which must live on: it is cut off instead.
  proxy.arm({ signal: () => undefined, alive: () => true }, death);
  return {
    access: () => Promise.resolve({ server: new URL(proxy.url), tls: {}, headers: {} }),
    dead: proxy.struck,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
