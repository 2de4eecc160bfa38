import { describe, expect, it } from '@jest/globals';
import * as z from 'zod/mini';
import { integer, withDefault } from './config.ts';
import type { Definition } from './definition.ts';
import { readSettings } from './settings.ts';
import type { UnknownSetting } from './unknown-settings.ts';

const limit = withDefault(integer({ about: 'how many', example: '3', min: 0, max: 9 }), 3);

function functionNamed(name: string, rest: Partial<Definition> = {}): Definition {
  return { name, summary: '', config: z.object({ MAX_SHARDS: limit, SHARD_BYTES: limit }), ...rest };
}

const sync = functionNamed('coredns-sync', {
  formerSettings: { DNS_NAMESPACE: 'set COREDNS_NAMESPACE, which means the same', LOG_LEVEL: 'never read' },
});

function found(environment: Readonly<Record<string, string>>, definitions = [sync]): readonly UnknownSetting[] {
  return readSettings(definitions, environment).configured.flatMap(({ unknown }) => unknown);
}

describe('a variable that carries the name of a function', () => {
  it.each([
    ['a setting of its own', { COREDNS_SYNC_MAX_SHARDS: '4' }],
    ['a setting that all functions have', { COREDNS_SYNC_TIMEOUT_SECONDS: '4', COREDNS_SYNC_ROLE: 'events' }],
    ['an empty one', { COREDNS_SYNC_MAX_SHARD: '' }],
    ['one of another product', { COREDNS_SYNCER: '1', PATH: '/bin', MAX_SHARD: '4' }],
    [
      'one that Kubernetes makes for a Service',
      {
        COREDNS_SYNC_SERVICE_HOST: '10.0.0.1',
        COREDNS_SYNC_SERVICE_PORT: '80',
        COREDNS_SYNC_SERVICE_PORT_HTTPS: '443',
        COREDNS_SYNC_PORT: 'tcp://10.0.0.1:80',
        COREDNS_SYNC_PORT_80_TCP_ADDR: '10.0.0.1',
        COREDNS_SYNC_WEBHOOK_SERVICE_HOST: '10.0.0.2',
        COREDNS_SYNC_WEBHOOK_PORT: 'tcp://10.0.0.2:443',
      },
    ],
  ])('is not reported: %s', (_what, environment) => {
    expect(found(environment)).toEqual([]);
  });

  it.each([
    ['COREDNS_SYNC_MAX_SHARD', '4', 'set COREDNS_SYNC_MAX_SHARDS if that was meant, or remove it'],
    ['COREDNS_SYNC_SHARDS_BYTE', '4', 'set COREDNS_SYNC_SHARD_BYTES if that was meant, or remove it'],
    ['COREDNS_SYNC_COLOUR', 'red', 'remove it: functions/coredns-sync/README.md lists the settings'],
    ['COREDNS_SYNC_LOG_FORMAT', 'x', 'remove it: functions/coredns-sync/README.md lists the settings'],
    ['COREDNS_SYNC_PORT', '8081', 'set PORT: it is for the whole process'],
  ])('is reported when nothing reads it: %s=%s', (variable, value, instead) => {
    expect(found({ [variable]: value })).toEqual([{ function: 'coredns-sync', variable, instead }]);
  });

  it('belongs to the function with the longest name that fits', () => {
    const definitions = [functionNamed('coredns'), sync];

    expect(found({ COREDNS_SYNC_MAX_SHARDS: '4', COREDNS_MAX_SHARDS: '4' }, definitions)).toEqual([]);
    expect(found({ COREDNS_SYNC_X: '4' }, definitions).map((each) => each.function)).toEqual(['coredns-sync']);
  });
});

describe('a setting that a function no longer has', () => {
  it.each(['DNS_NAMESPACE', 'COREDNS_SYNC_DNS_NAMESPACE'])('is reported when %s is set', (variable) => {
    expect(found({ [variable]: 'kube-system' })).toEqual([
      { function: 'coredns-sync', variable, instead: 'set COREDNS_NAMESPACE, which means the same' },
    ]);
  });

  it('is not reported where the process or another function reads the variable', () => {
    const other = functionNamed('other', { config: z.object({ DNS_NAMESPACE: limit }) });

    expect(found({ LOG_LEVEL: 'info' })).toEqual([]);
    expect(found({ DNS_NAMESPACE: '4' }, [sync, other])).toEqual([]);
  });
});
