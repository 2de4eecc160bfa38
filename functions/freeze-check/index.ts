import { defineFunction } from '../../lib/runtime/define.ts';
import { configMaps } from '../../lib/kube/model/resource.ts';
import { Config } from './config.ts';
import { stateName } from './hold/ledger.ts';
import { release } from './hold/release.ts';
import { policyKinds } from './kinds/definitions.ts';
import { measure } from './measure.ts';
import { reconcile } from './reconcile.ts';
import { queryRoutes } from './query/routes.ts';
import { admissions } from './registration.ts';
import { actingRights, decidingRights } from './rights.ts';
import { missingPolicies } from './snapshot.ts';
import { triggers } from './wake.ts';

export default defineFunction<Config>({
  name: 'freeze-check',
  summary: 'refuses changes during freezes and outside maintenance windows',
  config: Config,
  kinds: policyKinds,
  on: triggers,
  tick: { schedule: '* * * * *', handle: reconcile },
  admit: admissions,
  ready: missingPolicies,
  measure,
  routes: queryRoutes,
  permissions: (config) => [...actingRights(config), ...decidingRights(config)],
  scaling: { minScale: 1, maxScale: 2, cpu: '20m', memory: '128Mi' },
  keeps: (_config, { namespace }) => [{ resource: configMaps, name: stateName, namespace }],
  release,
});
