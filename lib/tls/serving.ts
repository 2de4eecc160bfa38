import type { Context } from '../function/definition.ts';
import { memoryKey } from '../function/memory.ts';
import { isValidAt, type Generation } from './certificate.ts';
import { modeOf } from './mode.ts';
import { answersFor } from './probe.ts';
import type { TlsConfig, TlsMode } from './settings.ts';

/** The certificate that the listener of an instance uses. Shared between the listener and the poll. */
export interface Serving {
  generation: Generation | undefined;
  /** The digest of the last refused key pair, so that each is reported once. */
  refused: string | undefined;
  /** Passes a key pair to the listener; throws if the listener cannot use it. */
  present: (generation: Generation) => void;
}

export const servingKey = memoryKey((): Serving => {
  return { generation: undefined, refused: undefined, present: () => undefined };
});

/** The certificate of an instance as its listener sees it. */
export interface Certificate {
  readonly mode: TlsMode;
  /** Registers a callback for each new certificate. */
  readonly onShow: (present: Serving['present']) => void;
  /** Why clients would not accept the listener at this port; `undefined` if they would. */
  readonly problem: (port: number) => Promise<string | undefined>;
}

export function certificateOf(context: Context<TlsConfig>): Certificate {
  const { config, namespace, now } = context;
  const serving = context.memory(servingKey);

  async function problem(port: number): Promise<string | undefined> {
    const { generation } = serving;
    if (generation === undefined) {
      return 'there is no certificate yet';
    }
    if (!isValidAt(generation.leaf, now())) {
      return `the certificate expired on ${generation.leaf.validTo}`;
    }
    const serverName = `${config.WEBHOOK_SERVICE}.${namespace}.svc`;
    // The mounted text may lack a line end between two certificates.
    const ca = generation.authorities.map(String).join('');
    const answers = await answersFor({ host: 'localhost', port }, { serverName, ca });
    return answers ? undefined : 'the admission port does not answer';
  }

  return { mode: modeOf(config), onShow: (present) => (serving.present = present), problem };
}
