import { expect, it } from '@jest/globals';
import { renderModes } from '../../render/render.ts';
import { injectJunk } from '../../testing/injection.ts';
import { refusalOf } from './dns/parse.ts';

/** Where the rules say that their files are, by default. */
const directory = '/etc/coredns/custom/coredns-ingress-sync';

it('CS-17 CS-18 CS-45 of a million odd hosts, targets and annotations nothing but names reaches a written object, and CoreDNS takes all rules that come of them', async () => {
  const { texts, contents, served, foreign } = injectJunk(1_000_000);
  const recorded = contents.map(({ mode, key, rules, data }) => ({
    ...{ mode, key, directory },
    files: { [key]: rules, ...data },
  }));

  process.stderr.write(`${recorded.length} texts\n`);
  expect(foreign).toEqual([]);
  expect(new Set(recorded.map(({ mode }) => mode))).toEqual(new Set(renderModes));
  expect([texts >= 1_000_000, served > 10_000]).toEqual([true, true]);
  expect(await refusalOf(recorded)).toBeUndefined();
}, 1_800_000);
