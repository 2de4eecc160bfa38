import * as z from 'zod';
import { dnsLabel, text } from '../../../lib/function/config.ts';

export const Config = z.object({
  CONFIG_MAP: text({ about: 'where the census is kept', example: 'host-census', pattern: dnsLabel }).default(
    'host-census',
  ),
});
export type Config = z.output<typeof Config>;
