const rfc3339 = /^\d{4}-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[-+]([01]\d|2[0-3]):[0-5]\d)$/;

/** Reads an RFC 3339 time and returns milliseconds since the epoch. Throws if the text is not such a time. */
export function parseInstant(text: string): number {
  const [, month, day] = rfc3339.exec(text) ?? [];
  const instant = Date.parse(text);
  // Date.parse reads 30 February as a day in March.
  if (Number.isNaN(instant) || month === undefined || Number(day) > daysIn(text, Number(month))) {
    throw new Error(`"${text}" is not a time such as 2026-12-24T00:00:00Z`);
  }
  return instant;
}

function daysIn(text: string, month: number): number {
  return new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate();
}

/** Formats RFC 3339 in UTC with whole seconds: `2026-12-24T00:00:00Z`. */
export function formatInstant(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, -'.000Z'.length)}Z`;
}
