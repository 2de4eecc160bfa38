import * as z from 'zod';
import { integer } from '../../function/config.ts';

export const Config = z.object({
  MAX_KEYS: integer({ about: 'most keys to list; the rest is counted', example: '20', min: 1, max: 1000 }).default(20),
});
export type Config = z.output<typeof Config>;
