/** Durations, times and foreign text as people read them. */

const unit = (count, name, rest, restName) => count + name + (rest ? rest + restName : '');

/**
 * A duration as the command line writes it: at most two units, rounded down.
 *
 * @param {number} millis
 */
export function span(millis) {
  if (millis < 0) return '-' + span(-millis);
  const s = Math.floor(millis / 1000);
  if (s === 0) return millis < 1 ? '0s' : Math.floor(millis) + 'ms';
  if (s < 10 && millis % 1000 >= 100) return s + '.' + Math.floor(millis % 1000 / 100) + 's';
  if (s < 60) return s + 's';
  if (s < 3600) return unit(Math.floor(s / 60), 'm', s % 60, 's');
  if (s < 86400) return unit(Math.floor(s / 3600), 'h', Math.floor(s % 3600 / 60), 'm');
  return unit(Math.floor(s / 86400), 'd', Math.floor(s % 86400 / 3600), 'h');
}

/** A duration that goes on: whole seconds, so that it does not flicker. */
export const age = millis => millis < 1000 ? '<1s' : span(Math.floor(millis / 1000) * 1000);

const two = n => String(n).padStart(2, '0');

/** A time of this day, or with its date if it is another. */
export function clock(time) {
  const d = new Date(time);
  const day = d.toDateString() === new Date().toDateString()
    ? '' : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} `;
  return `${day}${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** Controls, and characters that turn the direction of text or take no room. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
/** The same, with the marks of a text that is not in normal form C: it looks like another one. */
const UNSAFE_MARKED = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{M}]/gu;
const MOST = 512;

/** Text of others, cut, with escapes as the command line writes them. */
export function foreign(text) {
  const said = String(text ?? '');
  const safe = said.replace(said === said.normalize('NFC') ? UNSAFE : UNSAFE_MARKED, c => {
    const hex = c.codePointAt(0).toString(16);
    return c < '\u0100' ? '\\x' + hex.padStart(2, '0') : `\\u{${hex}}`;
  });
  return safe.length > MOST ? safe.slice(0, MOST) + '…' : safe;
}

/** 10,000 */
export const count = n => n == null ? '–' : n.toLocaleString('en');

/** `1 lock`, `2 locks`. */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
