import * as z from 'zod/mini';
import { text, type Setting } from '../../../lib/function/config.ts';
import { parseTarget } from '../host.ts';
import { objectName } from './object-name.ts';

/** Where hosts lead. */
export function target(about: string): Setting<string> {
  const example = 'ingress-nginx-controller.ingress-nginx.svc.cluster.local.';
  return text({ about, example }).check(z.refine((value) => parseTarget(value) !== undefined, 'must be a DNS name'));
}

/** A JSON list of `{<key>, targetCNAME}`: one bad entry spoils all of it, since a wrong target would be served. */
export function mappings(key: string, about: string): Setting<readonly ClassMapping[]> {
  const says = `must be a JSON list of {"${key}": …, "targetCNAME": …} with valid targets`;
  const example = `[{"${key}":"nginx","targetCNAME":"ingress-nginx-controller.ingress-nginx.svc.cluster.local."}]`;
  const parsed = z.pipe(
    z.string(),
    z.transform((value: string, context) => {
      const found = parseMappings(value, key);
      if (found === undefined) {
        context.issues.push({ code: 'custom', message: says, input: value });
        return z.NEVER;
      }
      return found;
    }),
  );
  return parsed.register(z.globalRegistry, { about, example });
}

export interface ClassMapping {
  readonly className: string;
  /** Fully qualified, with its trailing dot. */
  readonly target: string;
}

function parseMappings(value: string, key: string): readonly ClassMapping[] | undefined {
  try {
    const entries: unknown = JSON.parse(value);
    if (!Array.isArray(entries) || entries.length === 0) {
      return undefined;
    }
    const found = entries.map((entry: unknown) => parseMapping(entry, key));
    return found.every((mapping) => mapping !== undefined) ? found : undefined;
  } catch {
    return undefined;
  }
}

function parseMapping(entry: unknown, key: string): ClassMapping | undefined {
  const { [key]: className, targetCNAME } = (entry ?? {}) as Record<string, unknown>;
  const target = typeof targetCNAME === 'string' ? parseTarget(targetCNAME) : undefined;
  return typeof className === 'string' && objectName.test.test(className) && target !== undefined
    ? { className, target }
    : undefined;
}
