import * as z from 'zod/mini';
import { dns } from './settings/dns.ts';
import { hosts, isGatewayClassLed, isGatewayTargetUsed, sources } from './settings/sources.ts';
import { leavingAllElseAlone, writing } from './settings/writing.ts';

export const Config = z
  .object({ ...sources, ...hosts, ...dns, ...writing })
  .check(
    z.refine(isGatewayClassLed, { path: ['GATEWAY_TARGET_CNAME'] }),
    z.refine(isGatewayTargetUsed, { path: ['GATEWAY_CLASS'] }),
    z.overwrite(leavingAllElseAlone),
  );
export type Config = z.output<typeof Config>;
