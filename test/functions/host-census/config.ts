import * as z from 'zod/mini';
import { dnsLabel, text, withDefault } from '../../../lib/function/config.ts';

export const Config = z.object({
  CONFIG_MAP: withDefault(
    text({ about: 'where the census is kept', example: 'host-census', pattern: dnsLabel }),
    'host-census',
  ),
});
export type Config = z.output<typeof Config>;
