import { defineFunction } from '../../lib/function/define.ts';
import { Config } from './config.ts';
import { reconcile } from './reconcile.ts';
import { actingRights } from './rights.ts';
import { triggers } from './wake.ts';

export default defineFunction<Config>({
  name: 'freeze-check',
  summary: 'refuses changes during freezes and outside maintenance windows',
  config: Config,
  on: triggers,
  tick: { schedule: '* * * * *', handle: reconcile },
  permissions: actingRights,
  scaling: { minScale: 1, maxScale: 2, cpu: '20m', memory: '128Mi' },
});
