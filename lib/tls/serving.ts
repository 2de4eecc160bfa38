import type { Context } from '../function/definition.ts';
import { memoryKey } from '../function/memory.ts';
import { isValidAt, type Generation } from './certificate.ts';
import { modeOf } from './mode.ts';
import { answersFor } from './probe.ts';
import type { TlsConfig, TlsMode } from './settings.ts';

/** What the listener of an instance shows. The listener and the poll that keeps its certificate meet here. */
export interface Serving {
  generation: Generation | undefined;
  /** The digest of a key pair that was refused, so that it is told once. */
  refused: string | undefined;
  /** Hands a key pair to the listener; throws if the listener can't use it. */
  present: (generation: Generation) => void;
}

export const servingKey = memoryKey((): Serving => {
  return { generation: undefined, refused: undefined, present: () => undefined };
});

/** The certificate of an instance as its listener sees it. */
export interface Certificate {
  readonly mode: TlsMode;
  /** Calls back with each certificate that is to be shown. */
  readonly onShow: (present: Serving['present']) => void;
  /** Why clients would not accept the listener at this port, if so. */
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
    // Not the text that was mounted: between two certificates of it a line end may be missing.
    const ca = generation.authorities.map(String).join('');
    const answers = await answersFor({ host: 'localhost', port }, { serverName, ca });
    return answers ? undefined : 'the admission port does not answer';
  }

  return { mode: modeOf(config), onShow: (present) => (serving.present = present), problem };
}
