import { configMaps } from '../../kube/model/resource.ts';
import { defineFunction } from '../../runtime/define.ts';
import { release } from './act/release.ts';
import { sync } from './act/sync.ts';
import { conditions } from './conditions.ts';
import { Config } from './config.ts';
import { selector } from './keys/plan.ts';
import { permissions } from './permissions.ts';

export default defineFunction<Config>({
  name: 'function-name',
  summary: 'annotates every ConfigMap that asks for it with the names of its keys',
  config: Config,
  on: () => [
    // `own` is the namespace of the function. With `cluster` here and in permissions.ts it would work everywhere.
    { resource: configMaps, mode: 'Reference', scope: 'own', selector, key: 'object', handle: sync },
  ],
  tick: { schedule: '*/5 * * * *', handle: sync },
  permissions,
  conditions,
  release,
});
