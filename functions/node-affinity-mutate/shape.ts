export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

/** Go decodes both as nothing. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}
