import * as z from 'zod/mini';
import { integer, withDefault } from '../../function/config.ts';

export const Config = z.object({
  MAX_KEYS: withDefault(
    integer({ about: 'most keys to list; the rest is counted', example: '20', min: 1, max: 1000 }),
    20,
  ),
});
export type Config = z.output<typeof Config>;
