/**
 * A time of day: the hour, two digits of the minute or none, and `am`, `pm` or none; and whether the hour has a
 * zero in front, as in the clock of 24 hours.
 */
interface Time {
  readonly hour: number;
  readonly minute: string;
  readonly half: string;
  readonly isPadded: boolean;
}

const TIME = /^([0-9]{1,2})(?::([0-9]{2}))?(?: ?([ap])\.?m\.?)?$/i;
/** What stands behind the digits of a time of twelve hours. */
const HALF = /^ ?[ap](?:m(?![\p{L}\p{N}_])|\.m\.)/iu;
const HALVES = ["am", "pm"];
const NOON = 12;

/** `am` or `pm` as it stands behind a time; "" if it does not. */
export function findHalf(behind: string): string {
  return HALF.exec(behind)?.[0] ?? "";
}

/** List other notations of a time, and the original in each: `list_times` of `mondegreen.prompts.times`. */
export function times(sent: string, original: string): Map<string, string> {
  const [theirs, mine] = [read(sent), read(original)];
  const found = new Map<string, string>();
  if (!theirs || !mine) return found;
  for (const half of HALVES) {
    const now = readAs(theirs, half);
    if (!now) continue;
    const old = translate(theirs, mine, half);
    for (const isShort of [false, true]) {
      for (const gap of ["", " "]) {
        for (const dot of ["", "."]) {
          const text = write(now, gap, dot, isShort);
          const isOldShort = isShort && (!old || ["", "00"].includes(old.minute));
          if (text) found.set(text, old ? write(old, gap, dot, isOldShort) : original);
        }
      }
    }
  }
  if (theirs.half || theirs.minute) {
    const own = clocks(mine);
    clocks(theirs).forEach((text, i) => found.set(text, own[i]!));
  }
  found.delete(sent);
  return found;
}

function read(text: string): Time | null {
  const [, digits = "", minute = "", sign] = TIME.exec(text) ?? [];
  if (!minute && !sign) return null;
  const [hour, half] = [Number(digits), sign ? `${sign.toLowerCase()}m` : ""];
  return hour < 24 && minute < "60" ? { hour, minute, half, isPadded: /^0./.test(digits) } : null;
}

/** A time with `am` or `pm`; null if it cannot be one. */
function readAs(time: Time, half: string): Time | null {
  if (time.half && time.hour <= NOON) return time.half === half ? time : null;
  if (time.half) return { ...time, hour: time.hour - NOON, half }; // 13:20 am: may be read as both
  if (isOfTwelve(time)) return { ...time, half };
  return half === halfOf(time) ? toHalfDay(time) : null;
}

/** The original, if the surrogate is read with this half; null if it has none. */
function translate(theirs: Time, mine: Time, half: string): Time | null {
  if (theirs.half) return mine.half ? mine : toHalfDay(mine);
  if (mine.half) return mine;
  if (isOfTwelve(theirs) && isOfTwelve(mine) && !mine.isPadded) return { ...mine, half }; // the answer decides for both
  return half === halfOf(theirs) ? toHalfDay(mine) : null;
}

function isOfTwelve({ hour }: Time): boolean {
  return hour > 0 && hour <= NOON;
}

function ofDay({ hour, half }: Time): number {
  return half && hour <= NOON ? (hour % NOON) + (half === "pm" ? NOON : 0) : hour;
}

function halfOf(time: Time): string {
  return HALVES[Number(ofDay(time) >= NOON)]!;
}

function toHalfDay(time: Time): Time {
  return { ...time, hour: ((ofDay(time) + NOON - 1) % NOON) + 1, half: halfOf(time) };
}

/** Write a time with its half; "" if it has minutes and is to have none. */
function write({ hour, minute, half }: Time, gap: string, dot: string, isShort: boolean): string {
  const written = minute || "00";
  if (isShort && written !== "00") return "";
  return `${hour || NOON}${isShort ? "" : `:${written}`}${gap}${half[0]}${dot}m${dot}`;
}

/** Write a time by the clock of 24 hours, without and with a leading zero. */
function clocks(time: Time): string[] {
  const hour = String(ofDay(time));
  return [hour, hour.padStart(2, "0")].map((each) => `${each}:${time.minute || "00"}`);
}
