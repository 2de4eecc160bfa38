/** A stretch of time in which the clocks of a zone are ahead of UTC by the same amount. */
export interface Span {
  readonly start: number;
  /** Exclusive. The next span may have the same offset. */
  readonly end: number;
  readonly offset: number;
}

/** The clocks of one place. All times are milliseconds; wall time is what a clock shows, counted as if it were UTC. */
export interface Zone {
  readonly name: string;
  /** The span around an instant. */
  readonly spanAt: (instant: number) => Span;
}

const dayMs = 86_400_000;

/** Zones keep an offset for weeks at least: the shortest from 2015 to 2040 is Fiji's summer of 28 days. */
const probeMs = 7 * dayMs;

/** What is looked up at once and then kept. */
const pageMs = 52 * probeMs;
const pagesKept = 100;

/** The one zone whose clocks never change. */
export const utc: Zone = { name: 'UTC', spanAt: () => ({ start: -Infinity, end: Infinity, offset: 0 }) };

/** The zone database is a constant of the process, read as far as it is asked for; a name has many spellings. */
const zonesKept = 500;
const known = new Map<string, Zone>();

/** The zone of an IANA name; empty and `Local` mean UTC. Throws when there is no such zone. */
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
      throw new RangeError(`${instant} is no instant`);
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

/** The names of three letters that the zone database has. */
const shortNames = ['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC', 'WET'];

/**
 * Whether the zone database may have such a name. Intl also takes offsets such as +01:00 and names that only old Java
 * programs know, some with another meaning than people give them: its BST is Bangladesh, its AST Alaska.
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
    // Told below.
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

/** The first instant of the new offset. */
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
