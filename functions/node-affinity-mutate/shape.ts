/** JSON of which nothing is known yet: a pod as somebody sent it. */
export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or nothing where it is absent, null or something else. */
export function recordOf(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

/** Go decodes both as nothing. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
