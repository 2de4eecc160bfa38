import { expect, it } from '@jest/globals';
import { long } from '../../../../test/support/long.ts';
import { renderModes } from '../../render/render.ts';
import { injectJunk } from '../../testing/injection.ts';
import { refusalOf } from './dns/parse.ts';

/** Where the rules say that their files are, by default. */
const directory = '/etc/coredns/custom/coredns-ingress-sync';
const inputs = long(1_000_000, 50_000);

it(`CS-17 CS-18 CS-45 of ${inputs.toLocaleString('en')} odd hosts, targets and annotations nothing but names reaches a written object, and CoreDNS takes all rules that come of them`, async () => {
  const { texts, contents, served, foreign } = injectJunk(inputs);
  const recorded = contents.map(({ mode, key, rules, data }) => ({
    ...{ mode, key, directory },
    files: { [key]: rules, ...data },
  }));

  process.stderr.write(`${recorded.length} texts\n`);
  expect(foreign).toEqual([]);
  expect(new Set(recorded.map(({ mode }) => mode))).toEqual(new Set(renderModes));
  expect([texts >= inputs, served > inputs / 100]).toEqual([true, true]);
  expect(await refusalOf(recorded)).toBeUndefined();
}, 1_800_000);
