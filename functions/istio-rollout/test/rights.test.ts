import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../lib/function/config.ts';
import { Config } from '../config.ts';
import { permissions } from '../permissions.ts';

const everything = { ON_DELETE_ACTION: 'evict', UNMANAGED_ACTION: 'evict', PROBE_MODE: 'dryRun' };

function granted(settings: Readonly<Record<string, string>>): readonly string[] {
  const all = permissions(parseConfig(Config, settings)).flatMap(({ verbs, resources }) =>
    verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
  );
  return [...new Set(all)].sort();
}

describe('rights', () => {
  it('a dry run asks for no right to change a workload', () => {
    const writes = granted({ DRY_RUN: 'true' }).filter((right) => !/^(get|list) /.test(right));

    expect(writes).toEqual(['create configmaps', 'patch configmaps']);
  });

  it.each([{}, everything, { DRY_RUN: 'true' }])('with %j nothing is watched and no Secret is read', (settings) => {
    expect(granted(settings).filter((right) => /^watch | secrets$|\*/.test(right))).toEqual([]);
  });
});
