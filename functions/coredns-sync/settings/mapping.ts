import * as z from 'zod/mini';
import { text, type Setting } from '../../../lib/function/config.ts';
import { parseTarget } from '../host.ts';

/** Of an annotation it may be nearly anything. The rules ConfigMap lists the classes between commas. */
export const soundClass = {
  test: /^[!-+\--~]{1,253}$/,
  says: 'must be a class: visible ASCII without blanks and commas',
};

/** Where hosts lead. */
export function target(about: string): Setting<string> {
  const example = 'ingress-nginx-controller.ingress-nginx.svc.cluster.local.';
  return text({ about, example }).check(z.refine((value) => parseTarget(value) !== undefined, 'must be a DNS name'));
}

/** A JSON list of `{<key>, targetCNAME}`: one bad entry spoils all of it, since a wrong target would be served. */
export function mappings(key: string, about: string): Setting<readonly ClassMapping[]> {
  const says = `must be a JSON list of {"${key}": …, "targetCNAME": …}`;
  const example = `[{"${key}":"nginx","targetCNAME":"ingress-nginx-controller.ingress-nginx.svc.cluster.local."}]`;
  const parsed = z.pipe(
    z.string(),
    z.transform((value: string, context) => {
      const found = parseMappings(value, key);
      if (typeof found === 'string') {
        context.issues.push({ code: 'custom', message: `${says}: ${found}`, input: value });
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

/** A text says what is wrong. */
function parseMappings(value: string, key: string): readonly ClassMapping[] | string {
  const entries = parseJson(value);
  if (!Array.isArray(entries) || entries.length === 0) {
    return 'it is none, or an empty one';
  }
  const found: ClassMapping[] = [];
  for (const [index, entry] of entries.entries()) {
    const mapping = parseMapping(entry, key);
    if (typeof mapping === 'string') {
      return `entry ${index + 1}: ${mapping}`;
    }
    found.push(mapping);
  }
  return found;
}

function parseMapping(entry: unknown, key: string): ClassMapping | string {
  const { [key]: className, targetCNAME } = (entry ?? {}) as Record<string, unknown>;
  const target = typeof targetCNAME === 'string' ? parseTarget(targetCNAME) : undefined;
  if (typeof className !== 'string' || !soundClass.test.test(className)) {
    return `${key} ${soundClass.says}`;
  }
  return target === undefined ? 'targetCNAME must be a DNS name' : { className, target };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
