import { defineFunction } from '../../lib/function/define.ts';
import { Config } from './config.ts';

export default defineFunction<Config>({
  name: 'freeze-check',
  summary: 'refuses changes during freezes and outside maintenance windows',
  config: Config,
});
