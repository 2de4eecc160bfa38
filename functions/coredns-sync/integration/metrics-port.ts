import { CorefileError, parseCorefile } from '../corefile/parse.ts';

/** Of CoreDNS, unless the Corefile names another. */
const usualPort = 9153;

/** Where pods tell of their reloads; undefined where the Corefile does not let them. */
export function metricsPort(corefile: string): number | undefined {
  try {
    const directives = parseCorefile(corefile).blocks.flatMap((block) => block.directives);
    const found = directives.find(({ name }) => name.text === 'prometheus');
    return found === undefined ? undefined : Number(/:(\d+)$/.exec(found.words[0] ?? '')?.[1] ?? usualPort);
  } catch (error) {
    if (error instanceof CorefileError) {
      return undefined;
    }
    throw error;
  }
}
