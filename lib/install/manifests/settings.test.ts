import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { flag, text, withDefault } from '../../function/config.ts';
import { chosenSettings } from './settings.ts';
import { sample } from './testing/sample.ts';

const config = z.object({
  TARGET: text({ about: 'where to', example: 'somewhere' }),
  BOLD: withDefault(flag({ about: 'whether it dares' }), false),
});
const definitions = [sample({ name: 'one', config }), sample({ name: 'two', config })];

describe('chosen settings', () => {
  it('belong to one function; the last one counts, and values may have any characters', () => {
    const settingsOf = chosenSettings(['one.TARGET=a', 'one.TARGET=b=c.d\n', 'two.BOLD=true'], definitions);

    expect(settingsOf('one')).toEqual({ TARGET: 'b=c.d\n' });
    expect(settingsOf('two')).toEqual({ BOLD: 'true' });
  });

  it('may be settings that every function has', () => {
    expect(chosenSettings(['one.LOG_LEVEL=debug', 'one.DRY_RUN=true'], definitions)('one')).toEqual({
      LOG_LEVEL: 'debug',
      DRY_RUN: 'true',
    });
  });

  it.each([
    ['BOLD=true', '--set takes FUNCTION.NAME=VALUE, not "BOLD=true"'],
    ['one.BOLD', '--set takes FUNCTION.NAME=VALUE, not "one.BOLD"'],
    ['three.BOLD=true', 'three.BOLD: there is no function three, only one, two'],
    ['one.BLOD=true', 'one.BLOD: there is no such setting; functions/one/README.md lists'],
    ['one.toString=true', 'one.toString: there is no such setting'],
    ['one.BOLD=perhaps', 'one.BOLD must be true or false, got "perhaps" (example: true)'],
    ['one.TARGET=', 'one.TARGET is required (example: somewhere)'],
    ['one.LOG_LEVEL=loud', 'one.LOG_LEVEL must be one of'],
    ['one.PORT=80', 'one.PORT is set by the manifests; leave it out'],
    ['one.ROLE=all', 'one.ROLE is set by the manifests; leave it out'],
  ])('refuse %s and say what is wrong with it', (setting, why) => {
    expect(() => chosenSettings([setting], definitions)).toThrow(why);
  });

  it('name everything that is wrong at once', () => {
    const wrong = ['one.BLOD=true', 'one.BOLD=perhaps', 'two.BOLD=no'];

    expect(() => chosenSettings(wrong, definitions)).toThrow(/one\.BLOD.*\n.*one\.BOLD.*\n.*two\.BOLD/);
  });
});
