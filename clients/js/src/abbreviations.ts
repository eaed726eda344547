/** Words that hardly ever end a sentence before a full stop. */
const ABBREVIATIONS = /^(?:mrs?|ms|dr|prof|rev|hon|gen|sen|gov|capt|lt|col|sgt|vs|approx|dept)$/i;
/** Short names of days and months, as they are printed. */
const CALENDAR = /^(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|Jan|Feb|Mar|Apr|Ju[nl]|Aug|Sept?|Oct|Nov|Dec)$/;

/**
 * Whether a printed word is an abbreviation, behind which no sentence begins: `Abbreviations` of
 * `mondegreen.policy.abbreviations`. One letter is one if a full stop joins it to the word in front.
 */
export function isAbbreviation(parts: readonly string[], i: number, printed: string): boolean {
  if (!/^\. +$/.test(parts[2 * i + 2]!)) return false;
  const isJoined = i > 0 && parts[2 * i] === "." && /^[a-zA-Z]$/.test(printed);
  return isJoined || ABBREVIATIONS.test(printed) || CALENDAR.test(printed);
}
