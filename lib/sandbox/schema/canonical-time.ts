const microTime = 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime';
const written = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/;

/** A time as the API server writes it, however it was sent: in UTC, to the second or to the microsecond. */
export function canonicalTime(text: string, definition: string | undefined): string {
  const [match, fraction = ''] = written.exec(text) ?? [];
  const time = match === undefined ? Number.NaN : Date.parse(text);
  if (Number.isNaN(time)) {
    return text;
  }
  const seconds = new Date(time).toISOString().slice(0, 19);
  return definition === microTime ? `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z` : `${seconds}Z`;
}
