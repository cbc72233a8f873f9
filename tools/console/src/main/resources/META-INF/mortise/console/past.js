import { KINDS } from './events.js';
import { process } from './lines.js';
import { clock, foreign, span } from './text.js';

/** Events as bars and steps of a timeline. */

const ENDS = { released: 'held', ended: 'held', lost: 'lost', evicted: 'evicted', broken: 'evicted' };
const NOTES = { lost: 'lost', evicted: 'evicted' };

/** @param {string} said what has become of it */
const bar = (from, to, kind, party, said = 'holds it now') => ({ from, to, kind, text: process(party).split(':')[0],
  title: `${process(party)}, ${span(to - from)}, from ${clock(from)}${said && ': ' + said}`, note: NOTES[kind] });

const ended = (from, end, party) => bar(from, end.at, ENDS[end.kind], party, end.kind === 'released' ? '' : foreign([KINDS[end.kind], end.text].filter(Boolean).join(', ')));

/**
 * The holds of one lock.
 *
 * @param {any[]} events newest first
 * @param {any} data the lock, with those who hold it now
 * @returns {import('./timeline.js').Bar[]}
 */
export function lanesOf(events, data, to) {
  const bars = data.lock.holders.filter(party => party.sinceMillis != null).map(party => ({
    ...bar(data.asOfAt - party.sinceMillis, to, party.sessionLeftMillis === 0 ? 'lost' : 'now', party, party.sessionLeftMillis === 0 ? 'its session is over' : undefined), note: null }));
  const open = new Set(data.lock.holders.map(party => party.attempt));
  return [...holds(events, open).map(hold => hold.bar), ...bars];
}

/**
 * Holds that have ended, from their events.
 *
 * @param {any[]} events newest first
 * @param {Set<string>} open attempts that hold still
 * @param {?number} to until when those last that have no end; null leaves them out
 */
export function holds(events, open = new Set(), to = null) {
  const ends = new Map(), found = [];
  for (const event of events) {
    if (event.kind in ENDS) ends.set(event.attempt, event);
    else if ((event.kind === 'granted' || event.kind === 'held') && !open.has(event.attempt)) {
      const end = ends.get(event.attempt);
      ends.delete(event.attempt);
      if (end) found.push({ event, bar: ended(event.at, end, event) });
      else if (to !== null) found.push({ event, bar: bar(event.at, to, 'now', event) });
    }
  }
  for (const end of ends.values()) {
    if (end.heldMillis != null) found.push({ event: end, bar: ended(end.at - end.heldMillis, end, end) });
  }
  return found;
}

/** Holds that began before the console did: an answer has them beside its events. @returns {any[]} as events */
export function older(data) {
  const told = new Set(data.events.filter(event => event.kind === 'granted').map(event => event.attempt));
  return (data.holds ?? []).filter(hold => !told.has(hold.attempt))
    .map(hold => ({ ...hold, kind: 'held', at: hold.sinceAt, seq: 0, text: 'before the console began to look' }));
}

/** How many waited. @returns {import('./timeline.js').Step[]} */
export function waitsOf(events, data, to) {
  const changes = data.lock.waiters.filter(party => party.sinceMillis != null).map(party => [data.asOfAt - party.sinceMillis, 1]);
  const now = new Set(data.lock.waiters.map(party => party.attempt));
  const ends = new Map();
  for (const { kind, attempt, at } of events) {
    if (kind === 'granted' || kind === 'gave_up' || kind in ENDS && !ends.has(attempt)) ends.set(attempt, at);
    else if (kind === 'waiting' && !now.has(attempt)) changes.push([at, 1], [ends.get(attempt) ?? at, -1]);
  }
  if (!changes.length) return [];
  let n = 0;
  const list = changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]).map(([at, by]) => ({ at, n: n += by }));
  return [{ at: 0, n: 0 }, ...list];
}

/** When nobody looked. @returns {import('./timeline.js').Bar[]} */
export function unseen(status, from, to) {
  const gaps = [{ fromAt: 0, toAt: status.watchedSinceAt }, ...status.events?.gaps ?? []];
  return gaps.filter(gap => gap.toAt > from && gap.fromAt < to).map(gap => ({
    from: Math.max(from, gap.fromAt), to: Math.min(to, gap.toAt), kind: 'unseen', title: 'not watched until ' + clock(gap.toAt) }));
}
