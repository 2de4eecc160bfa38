import * as z from 'zod/mini';
import { dnsLabel, integer, text, withDefault } from '../../../lib/function/config.ts';

export const Config = z.object({
  CONFIG_MAP: withDefault(
    text({ about: 'where the census is kept', example: 'host-census', pattern: dnsLabel }),
    'host-census',
  ),
  MAX_HOSTS: withDefault(
    integer({ about: 'most hosts to list; more are left out', example: '10000', min: 1, max: 10_000 }),
    10_000,
  ),
});
export type Config = z.output<typeof Config>;
