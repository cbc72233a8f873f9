import { el } from './dom.js';
import { process } from './lines.js';
import { link } from './route.js';
import { clock, foreign, span } from './text.js';

/** What has happened, newest first. */

export const KINDS = { granted: 'granted', held: 'held already', released: 'released', ended: 'ended', lost: 'lost', evicted: 'evicted', broken: 'broken', waiting: 'waits',
  gave_up: 'gave up', shut: 'shut', opened: 'opened', session_began: 'began', session_over: 'is over', gap: 'not watched' };

/** What else there is to say of it. */
export function detail({ kind, heldMillis, text, label, doubtMillis }) {
  const held = heldMillis == null ? '' : 'after ' + (doubtMillis >= 1000 ? `${span(Math.max(0, heldMillis - doubtMillis))} to ` : '') + span(heldMillis);
  if (kind === 'lost' || kind === 'ended') return foreign([text, held].filter(Boolean).join(kind === 'lost' ? ' ' : ', '));
  return foreign(text || held || label || '');
}

/** @param {{ events: any[], locks?: boolean }} props `locks`: with the names of the locks */
export const Latest = ({ events, locks = false }) => el.table({ class: 'events', 'aria-label': 'Events' }, el.tbody([...events].sort((a, b) => b.at - a.at || b.seq - a.seq).map(event =>
  el.tr({ key: event.seq, class: event.kind },
    el.td({ title: new Date(event.at).toString() }, clock(event.at)),
    el.td(KINDS[event.kind] ?? event.kind),
    locks && el.td({ class: 'mono' }, event.lock && el.a({ href: link('lock', event.lock) }, foreign(event.lock))),
    el.td({ class: 'mono' }, event.host ? [process(event), locks && event.client && el.small(' ', foreign(event.client))] : ''),
    el.td(detail(event))))));
