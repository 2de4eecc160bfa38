/** A period in which the offset of a zone from UTC does not change. */
export interface Span {
  readonly start: number;
  /** Exclusive. The next span may have the same offset. */
  readonly end: number;
  readonly offset: number;
}

/** The clocks of a zone. All times are milliseconds; wall time is what a clock shows, counted as if it were UTC. */
export interface Zone {
  readonly name: string;
  /** The span that contains an instant. */
  readonly spanAt: (instant: number) => Span;
}

const dayMs = 86_400_000;

/** Zones keep an offset for weeks at least; the shortest period from 2015 to 2040 is Fiji's summer of 28 days. */
const probeMs = 7 * dayMs;

/** The period that is looked up at once and cached. */
const pageMs = 52 * probeMs;
const pagesKept = 100;

/** The clocks of UTC never change. */
export const utc: Zone = { name: 'UTC', spanAt: () => ({ start: -Infinity, end: Infinity, offset: 0 }) };

/** Bounds the cache of zones: one zone has many spellings. The zone database does not change while a process runs. */
const zonesKept = 500;
const known = new Map<string, Zone>();

/** The zone with an IANA name; empty and `Local` mean UTC. Throws if there is no such zone. */
export function zoneOf(name: string): Zone {
  const given = name === '' || name === 'Local' ? 'UTC' : name;
  const zone = known.get(given) ?? (given === 'UTC' ? utc : readZone(given));
  if (known.size >= zonesKept) {
    known.clear();
  }
  known.set(given, zone);
  return zone;
}

function readZone(name: string): Zone {
  const offsetAt = offsetsOf(name);
  const pages = new Map<number, readonly Span[]>();

  function pageOf(number: number): readonly Span[] {
    const page = pages.get(number) ?? spansBetween(number * pageMs, (number + 1) * pageMs, offsetAt);
    if (pages.size >= pagesKept) {
      pages.clear();
    }
    pages.set(number, page);
    return page;
  }

  function spanAt(instant: number): Span {
    const span = pageOf(Math.floor(instant / pageMs)).find(({ end }) => instant < end);
    if (span === undefined) {
      throw new RangeError(`${instant} is not an instant`);
    }
    return span;
  }

  return { name, spanAt };
}

type Offsets = (instant: number) => number;

const offset = /GMT(?:([-+])(\d\d):(\d\d)(?::(\d\d))?)?$/;

function offsetsOf(name: string): Offsets {
  const format = formatOf(name);
  return (instant) => {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = offset.exec(format.format(instant)) ?? [];
    const ahead = 1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds));
    return sign === '-' ? -ahead : ahead;
  };
}

/** The three-letter names in the zone database. */
const shortNames = ['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC', 'WET'];

/**
 * Whether the zone database may contain such a name. Intl also accepts offsets such as +01:00 and names from old Java
 * programs, some with an unexpected meaning: its BST is Bangladesh, its AST is Alaska.
 */
function isZoneName(name: string): boolean {
  return /^[a-z]{3}$/i.test(name) ? shortNames.includes(name.toUpperCase()) : /^(?!systemv\/)[a-z]/i.test(name);
}

/** No zone has a longer name. */
const longestName = 100;

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    if (name.length <= longestName && isZoneName(name)) {
      return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    }
  } catch {
    // Reported below.
  }
  throw new Error(`unknown time zone ${name.slice(0, longestName)}`);
}

function spansBetween(start: number, end: number, offsetAt: Offsets): readonly Span[] {
  const changes: number[] = [];
  for (let probe = start; probe < end; probe += probeMs) {
    if (offsetAt(probe) !== offsetAt(probe + probeMs)) {
      changes.push(changeBetween(probe, probe + probeMs, offsetAt));
    }
  }
  return [start, ...changes].map((from, index) => ({
    start: from,
    end: changes[index] ?? end,
    offset: offsetAt(from),
  }));
}

/** The first instant with the new offset. */
function changeBetween(before: number, after: number, offsetAt: Offsets): number {
  const old = offsetAt(before);
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === old) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}
