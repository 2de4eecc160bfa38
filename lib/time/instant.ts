const rfc3339 = /^\d{4}-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d)$/;

/** Reads an RFC 3339 time, in milliseconds since the epoch. Throws where it is none. */
export function parseInstant(text: string): number {
  const [, month, day] = rfc3339.exec(text) ?? [];
  const instant = Date.parse(text);
  // Some days that no month has are read as days of the next one.
  if (Number.isNaN(instant) || month === undefined || Number(day) > daysIn(text, Number(month))) {
    throw new Error(`"${text}" is no time such as 2026-12-24T00:00:00Z`);
  }
  return instant;
}

function daysIn(text: string, month: number): number {
  return new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate();
}

/** RFC 3339 in UTC, whole seconds: `2026-12-24T00:00:00Z`. */
export function formatInstant(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, -'.000Z'.length)}Z`;
}
