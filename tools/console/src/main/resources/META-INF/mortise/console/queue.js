import { h } from 'preact';
import { Age, Left, Meter, ago } from './clock.js';
import { classes, el } from './dom.js';
import { process } from './lines.js';
import { ttlOf } from './sessions.js';
import { count, foreign, span } from './text.js';

/** The waiters in their order; or the holders, if there are several. */

const MOST = 100;

/** @param {{ waiters: any[], total?: number, asOfAt: number, eviction: any, may: boolean, held?: boolean }} props */
export function Queue({ waiters, total = waiters.length, asOfAt, eviction, may, held = false }) {
  return [
    !held && el.h3('Queue', el.span('in the order in which they will get it'), el.span({ class: 'heads' }, 'waited', el.i(waiters[0].renewedAgoMillis == null ? 'session' : 'renewed'))),
    el.ol({ class: classes('queue', may && 'may') }, waiters.slice(0, MOST).map((party, i) => el.li({ key: party.attempt },
      el.span({ class: 'pos' }, i + 1),
      el.span({ class: 'who mono' }, process(party), el.small(foreign(party.label || party.client || ''))),
      el.span({ class: 'dim mode-c' }, party.mode),
      el.span({ class: 'num' }, h(Age, { since: ago(asOfAt, party.sinceMillis) })),
      h(Session, { party, at: asOfAt, held }),
      may && el.button({ class: 'btn small', 'aria-label': (held ? 'Evict ' : 'End the wait of ') + process(party), onClick: () => eviction.ask(party, !held) }, held ? 'Evict…' : 'End…')))),
    total > MOST && el.p({ class: 'dim more' }, 'and ', count(total - MOST), ' more')];
}

function Session({ party: { session, sessionLeftMillis: left, ttlMillis, renewedAgoMillis: ago }, at, held }) {
  if (left === 0) return el.span({ class: 'sess deadtext' }, 'gone');
  if (ago != null) return el.span({ class: classes('sess', ago > 2 * ttlMillis && 'low'), title: `when its session of ${span(ttlMillis)} was renewed` }, h(Age, { since: at - ago }), ' ago');
  if (!held) return el.span({ class: 'sess dim', title: 'A process that only waits has a short session, which it renews as often.' }, 'alive');
  const ttl = ttlOf(session, left, ttlMillis);
  return el.span({ class: classes('sess', left < ttl / 2 && 'low'), title: 'what its session has left without a renewal' },
    h(Meter, { at: at + left, ttl }), el.span({ class: 'num' }, h(Left, { at: at + left })));
}
