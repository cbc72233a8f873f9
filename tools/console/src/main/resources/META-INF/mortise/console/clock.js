import { useEffect, useReducer } from 'preact/hooks';
import { el } from './dom.js';
import { age, clock } from './text.js';

/** Ages go on in the browser: a lock that does not change costs no bytes. */

const listeners = new Set();
/** How far this browser's clock is ahead of the console's. */
let ahead = 0;
let stopped = null;
setInterval(() => { if (stopped === null && !document.hidden) listeners.forEach(tell => tell()); }, 1000);

/** Now, or when the page was stopped, by the console's clock. */
export const now = () => stopped ?? Date.now() - ahead;

/** What the console's clock says. Less than a second is the way here. */
export function setNow(at) {
  if (Math.abs(Date.now() - at - ahead) > 1000) ahead = Date.now() - at;
}

/** Stops all ages, or lets them go on. */
export function stop(whether) {
  stopped = whether ? now() : null;
  listeners.forEach(tell => tell());
}

/** Draws the component again each second. */
export function useSeconds() {
  const [, again] = useReducer(n => n + 1, 0);
  useEffect(() => {
    listeners.add(again);
    return () => listeners.delete(again);
  }, []);
}

/** Since when it has lasted for so long at that time; null if that is not known. */
export const ago = (at, millis) => millis == null ? null : at - millis;

/** How long ago that was, with the time of day on hover. @param {{ since: ?number }} props null if it is not known */
export function Age({ since }) {
  useSeconds();
  if (since == null) return '–';
  return el.span({ title: 'since ' + clock(since) }, age(Math.max(0, now() - since)));
}

/** How long until then. @param {{ at: number }} props */
export function Left({ at }) {
  useSeconds();
  return el.span({ title: 'until ' + clock(at) }, age(Math.max(0, at - now())));
}

/** What is left of a session, as a bar. @param {{ at: number, ttl: number }} props */
export function Meter({ at, ttl }) {
  useSeconds();
  const part = Math.max(0, Math.min(1, (at - now()) / ttl));
  return el.span({ class: 'meter', 'aria-hidden': 'true' }, el.i({ style: { width: part * 100 + '%' } }));
}
