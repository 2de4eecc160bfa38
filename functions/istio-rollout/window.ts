import { zoneOf, type Zone } from '../../lib/time/zone.ts';

/** A stretch of the week on the wall clock of one place. */
export interface Window {
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Minutes since midnight; an end at or before the start is on the next day. */
  readonly start: number;
  readonly end: number;
  readonly zone: Zone;
}

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const grammar = /^(?:([A-Za-z,-]+)\s+)?(\d{2}):(\d{2})-(\d{2}):(\d{2})(?:\s+(\S+))?$/;

/** Reads `Sat-Sun 00:00-04:00 Europe/Berlin; Wed 22:00-24:00`. Days and zone may be absent: every day, UTC. Throws. */
export function parseWindows(text: string): readonly Window[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseWindow);
}

function parseWindow(text: string): Window {
  const [, days, startHour, startMinute, endHour, endMinute, zone = 'UTC'] = grammar.exec(text) ?? [];
  const start = minutesOf(startHour, startMinute);
  const end = minutesOf(endHour, endMinute);
  if (start === undefined || end === undefined || start === dayMinutes) {
    throw new Error(`"${text}" is no window such as Sat-Sun 00:00-04:00 Europe/Berlin`);
  }
  return { days: parseDays(days ?? 'sun-sat'), start, end, zone: zoneOf(zone) };
}

function minutesOf(hour: string | undefined, minute: string | undefined): number | undefined {
  const minutes = Number(hour) * 60 + Number(minute);
  return Number(minute) < 60 && minutes <= dayMinutes ? minutes : undefined;
}

function parseDays(text: string): ReadonlySet<number> {
  return new Set(
    text.split(',').flatMap((part) => {
      const [first = '', last = first] = part.split('-');
      const from = dayNames.indexOf(first.toLowerCase());
      const to = dayNames.indexOf(last.toLowerCase());
      if (from < 0 || to < 0) {
        throw new Error(`"${part}" names no day such as Mon or Sat-Sun`);
      }
      const length = ((to - from + 7) % 7) + 1;
      return Array.from({ length }, (_, index) => (from + index) % 7);
    }),
  );
}

/** When the first of the windows is open next: `now` if one is open. No window at all is always open. */
export function nextOpening(windows: readonly Window[], now: Date): Date {
  const instants = windows.map((window) => openingOf(window, now.getTime()));
  return instants.length === 0 ? now : new Date(Math.min(...instants));
}

function openingOf(window: Window, now: number): number {
  const { offset } = window.zone.spanAt(now);
  const midnight = Math.floor((now + offset) / (dayMinutes * minuteMs)) * dayMinutes * minuteMs;
  const length = window.end <= window.start ? window.end + dayMinutes - window.start : window.end - window.start;
  // Yesterday's window may reach into today; a week later every day has come up.
  for (let day = -1; day <= 8; day += 1) {
    const start = midnight + (day * dayMinutes + window.start) * minuteMs;
    const opens = instantOf(start, window.zone);
    const closes = instantOf(start + length * minuteMs, window.zone);
    if (window.days.has(new Date(start).getUTCDay()) && now < closes && opens < closes) {
      return Math.max(now, opens);
    }
  }
  return Infinity;
}

/** The instant at which the clocks show a wall time: the first of two, and the change itself where it is skipped. */
function instantOf(wall: number, zone: Zone): number {
  const before = zone.spanAt(wall - dayMinutes * minuteMs);
  const instant = wall - before.offset;
  return instant < before.end ? instant : Math.max(before.end, wall - zone.spanAt(before.end).offset);
}
