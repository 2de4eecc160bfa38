import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../lib/function/config.ts';
import { readSettings } from '../../lib/function/settings.ts';
import { Config } from './config.ts';
import definition from './index.ts';
import { overridden } from './overrides.ts';

describe('settings', () => {
  it('let a pass end well before its handler has to', () => {
    const { configured } = readSettings([definition], {});

    expect(configured).toMatchObject([{ config: { MAX_INVOCATION: 60_000 }, settings: { TIMEOUT_SECONDS: 90 } }]);
    expect(() => parseConfig(Config, { MAX_INVOCATION: '90s' })).toThrow(
      'MAX_INVOCATION must be above 0 and below the 90s that a handler has, got "90s" (example: 60s)',
    );
  });

  it('TIMEOUT_SECONDS that is given counts', () => {
    const { configured } = readSettings([definition], { ISTIO_ROLLOUT_TIMEOUT_SECONDS: '100' });

    expect(configured).toMatchObject([{ settings: { TIMEOUT_SECONDS: 100 } }]);
  });

  it('SKIP_NAMESPACES that is empty means none, in the ConfigMap as well', () => {
    const defaults = parseConfig(Config, {});

    expect(parseConfig(Config, { SKIP_NAMESPACES: '' })).toEqual({ ...defaults, SKIP_NAMESPACES: [] });
    expect(overridden(defaults, { skipNamespaces: '', window: '' })).toEqual({ ...defaults, SKIP_NAMESPACES: [] });
  });
});
