import * as z from 'zod/mini';
import { dns } from './settings/dns.ts';
import { hosts, sources } from './settings/sources.ts';
import { writing } from './settings/writing.ts';

export const Config = z.object({ ...sources, ...hosts, ...dns, ...writing });
export type Config = z.output<typeof Config>;
