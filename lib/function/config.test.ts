import { describe, expect, it } from '@jest/globals';
import * as z from 'zod/mini';
import {
  dnsLabel,
  duration,
  exampleEnvironment,
  flag,
  integer,
  list,
  mayBeEmpty,
  oneOf,
  parseConfig,
  text,
  withDefault,
} from './config.ts';

const Config = z.object({
  TARGET: text({
    about: 'where to',
    example: 'ingress.default.svc',
    pattern: { test: /^[a-z.]+$/, says: 'must be a name' },
  }),
  RETRIES: withDefault(integer({ about: 'how often', example: '3', min: 0, max: 9 }), 3),
  PATIENCE: withDefault(duration({ about: 'how long', example: '90s' }), 1000),
  MODE: withDefault(oneOf(['auto', 'manual'], { about: 'how' }), 'auto'),
  ADOPT: withDefault(flag({ about: 'whether' }), false),
  NAMESPACES: withDefault(list({ about: 'which', example: 'a,b', item: dnsLabel }), []),
});

describe('settings', () => {
  it('prefers the variable with the name of the function', () => {
    const environment = {
      TARGET: 'common',
      COREDNS_SYNC_TARGET: 'own',
      RETRIES: '5',
      PATIENCE: '1m30s',
      ADOPT: 'true',
      NAMESPACES: 'a, b,',
    };

    expect(parseConfig(Config, environment, 'coredns-sync')).toEqual({
      TARGET: 'own',
      RETRIES: 5,
      PATIENCE: 90_000,
      MODE: 'auto',
      ADOPT: true,
      NAMESPACES: ['a', 'b'],
    });
  });

  it('treats an empty variable as absent', () => {
    expect(parseConfig(Config, { TARGET: 'a', RETRIES: '' }).RETRIES).toBe(3);
  });

  it('accepts an empty variable if the setting may be empty', () => {
    const names = withDefault(list({ about: 'which not', example: 'a,b', item: dnsLabel }), ['a']);
    const Skips = z.object({ SKIP: mayBeEmpty(names) });

    expect([{}, { SKIP: '' }, { SKIP: 'b' }].map((environment) => parseConfig(Skips, environment).SKIP)).toEqual([
      ['a'],
      [],
      ['b'],
    ]);
  });

  it('reports every problem at once, with the variable, the reason and an example', () => {
    const environment = { X_RETRIES: 'many', PATIENCE: '1d', MODE: 'x', ADOPT: 'perhaps', NAMESPACES: 'a,B' };

    expect(() => parseConfig(Config, environment, 'x')).toThrow(
      [
        'wrong settings',
        '  TARGET is required (example: ingress.default.svc)',
        '  X_RETRIES must be a whole number from 0 to 9, got "many" (example: 3)',
        '  PATIENCE must be a duration such as 90s, 30m or 1h30m, got "1d" (example: 90s)',
        '  MODE must be one of auto, manual, got "x" (example: auto)',
        '  ADOPT must be true or false, got "perhaps" (example: true)',
        '  NAMESPACES must be a DNS label (a-z, 0-9, -), got "a,B" (example: a,b)',
      ].join('\n'),
    );
  });

  it.each(['1', '0', 'yes', 'on', 'off', 'True', 'FALSE', ' true'])('refuses %j as a flag', (value) => {
    expect(() => parseConfig(Config, { TARGET: 'a', ADOPT: value })).toThrow('ADOPT must be true or false');
  });

  it('shortens a long value in the message', () => {
    expect(() => parseConfig(Config, { TARGET: 'X'.repeat(1000) })).toThrow(`got "${'X'.repeat(60)}…"`);
  });

  it('gives examples for required settings only', () => {
    expect(exampleEnvironment(Config)).toEqual({ TARGET: 'ingress.default.svc' });
  });
});
