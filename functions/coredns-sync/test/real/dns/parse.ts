import type { Recorded } from './recording/render.ts';
import { openDnsSite, type DnsSite, type Place } from './site.ts';

/** Texts that one process reads at a time. */
const atOnce = 400;
/** Blocks of our own need a port for each text: their zones are the hosts, which many texts have. A run has 60 ports. */
const portsAtOnce = 50;

/** What CoreDNS says of the first text that it does not take, and that text; undefined when it takes all. */
export async function refusalOf(texts: readonly Recorded[]): Promise<string | undefined> {
  await using site = await openDnsSite();
  const [withBlocks, plain] = [texts.filter(hasBlocks), texts.filter((text) => !hasBlocks(text))];
  for (const batch of [...batches(plain, atOnce), ...batches(withBlocks, portsAtOnce)]) {
    const refusal = await refusalOfBatch(site, batch);
    if (refusal !== undefined) {
      return refusal;
    }
  }
  return undefined;
}

/** Finds the text by halves, since not all that CoreDNS says names the file. */
async function refusalOfBatch(site: DnsSite, batch: readonly Recorded[]): Promise<string | undefined> {
  const refusal = await site.tryStart({
    corefile: (place) => corefile(place, batch),
    files: (place) => Object.fromEntries(batch.flatMap((text, index) => [...placed(text, index, place)])),
  });
  const [first, ...others] = batch;
  if (refusal === undefined || first === undefined) {
    return refusal;
  }
  if (others.length === 0) {
    return [refusal, ...Object.entries(first.files).flat()].join('\n');
  }
  const half = Math.ceil(batch.length / 2);
  const ofHalf = (await refusalOfBatch(site, batch.slice(0, half))) ?? (await refusalOfBatch(site, batch.slice(half)));
  return ofHalf ?? refusal; // where they are refused only together there is no more to say
}

function hasBlocks({ files }: Recorded): boolean {
  return Object.keys(files).some((key) => key.endsWith('.blocks'));
}

function batches<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Each text is imported into a server block of its own. */
function corefile({ port, common, mountPath }: Place, texts: readonly Recorded[]): string {
  const blocks = texts.map(({ files, key: rules }, index) => {
    const beside = Object.keys(files).find((key) => key.endsWith('.blocks'));
    return [
      `text-${index}.test:${port} {\n    bind 127.0.0.1\n    import ${mountPath}/${index}-${rules}\n}\n`,
      ...(beside === undefined ? [] : [`import ${mountPath}/${index}-${beside}\n`]),
    ].join('');
  });
  return `.:${port} {\n    ${common}\n}\n${blocks.join('')}`;
}

/** The files of one text, where this process finds them and on a port that is its own. */
function* placed(
  { files, directory }: Recorded,
  index: number,
  { mountPath, port }: Place,
): Iterable<[string, string]> {
  for (const [key, text] of Object.entries(files)) {
    const found = directory === undefined ? text : text.replaceAll(`${directory}/`, `${mountPath}/${index}-`);
    const blocksPort = `:${port + 3 + index}`;
    yield [
      `${index}-${key}`,
      key.endsWith('.blocks') ? found.replaceAll(/^([a-z0-9.-]+)(?::\d+)?(,| \{)$/gm, `$1${blocksPort}$2`) : found,
    ];
  }
}
