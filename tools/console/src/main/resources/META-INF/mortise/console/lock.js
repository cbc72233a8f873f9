import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { lockPath } from './api.js';
import { Chain } from './chain.js';
import { Age, Left, Meter, now, useSeconds, ago } from './clock.js';
import { el } from './dom.js';
import { Evict, Open, Outcome, useEviction } from './evict.js';
import { Latest } from './events.js';
import { useKeys } from './keys.js';
import { factor, mode, process, shapeOf } from './lines.js';
import { useLive } from './live.js';
import { lanesOf, waitsOf, unseen } from './past.js';
import { Queue } from './queue.js';
import { go, link } from './route.js';
import { ttlOf } from './sessions.js';
import { Icon, Shape } from './shapes.js';
import { useStatus } from './status.js';
import { clock, foreign, plural, span } from './text.js';
import { Timeline } from './timeline.js';

/** One lock: its holder, why it takes so long, the queue, the last half hour, the latest events. */

const PAST = 30 * 60000;

/** @param {{ name: string, filter: Object<string, string>, narrow: boolean }} props */
export function Lock({ name, filter, narrow }) {
  const { data, error } = useLive(lockPath(name));
  const eviction = useEviction(name);
  const status = useStatus();
  const may = status && ['close', 'break'].some(how => status.allowed.includes(how)) && status.features.includes('eviction');
  useKeys({
    e: () => { if (may && data?.lock.holders[0]) eviction.ask(data.lock.holders[0]); },
    Escape: () => go(link('locks', null, filter)),
  });
  return el.aside({ class: 'detail', id: 'detail', tabindex: -1, 'aria-label': 'The chosen lock' },
    el.div({ class: 'body', tabindex: 0, role: 'region', 'aria-label': 'All about the lock' },
      el.div({ class: 'head' },
        narrow && el.a({ class: 'icon back', href: link('locks', null, filter), 'aria-label': 'Back to the list' }, h(Icon, { of: 'back' })),
        el.h2({ class: 'mono' }, foreign(name)), h(CopyLink)),
      error && !data ? el.p({ class: 'calm' }, error.message, ' ', error.remedy) : data && h(Body, { data, status, eviction, may })),
    data && h(Foot, { data, status, eviction, may }),
    eviction.party && h(Evict, { eviction, data, status }),
    eviction.opening && data && h(Open, { eviction, data }));
}

function Body({ data, status, eviction, may }) {
  const { lock, asOfAt, chain } = data;
  return [
    h(Tags, { data }),
    h(Outcome, { eviction, data }),
    h(Holders, { data, eviction, may }),
    lock.waiters.length > 0 && lock.state === 'held' && h(Chain, { data }),
    status?.features.includes('queue') === false
      ? el.p({ class: 'calm' }, 'This store keeps no queue: the waiters are not known.')
      : lock.waiters.length > 0 && h(Queue, { waiters: lock.waiters, total: lock.waiterCount, asOfAt, eviction, may: may && status.allowed.includes('close') }),
    h(Past, { data, status }),
    data.events.length > 0 && [el.h3('Latest', el.a({ href: link('history', null, { lock: lock.name }) }, 'All of them')), h(Latest, { events: data.events.slice(0, 8) })],
  ];
}

/** As a row of the list, for what both say. */
const lineOf = ({ lock, trouble }) => ({ ...lock, trouble, holders: lock.holders.length, first: lock.holders[0] });

function Tags({ data: { lock, trouble, usualMillis, asOfAt } }) {
  const line = lineOf({ lock, trouble });
  const held = asOfAt - (lock.holders[0]?.sinceMillis ?? 0);
  const tone = { held: 'held', gone: 'bad' }[lock.state] ?? 'still';
  return el.div({ class: 'tags' },
    el.span({ class: 'pill ' + tone }, h(Shape, { of: shapeOf(line) }),
      lock.state === 'held' ? 'Held, ' + mode(line) : { gone: 'Holder gone', shut: 'Shut', free: 'Free', 'changing hands': 'Changing hands' }[lock.state]),
    trouble.includes('cycle') && el.span({ class: 'pill bad' }, 'In a possible deadlock'),
    lock.holders.some(party => party.sticky) && el.span({ class: 'pill still', title: 'Its process keeps the lock between uses, until another process wants it.' }, 'Sticky'),
    lock.waiters.length > 0 && el.span({ class: 'pill wait' }, plural(lock.waiterCount, 'waiter').replace(/waiters?/, 'waiting')),
    trouble.includes('long') && usualMillis && h(Times, { held, usualMillis }));
}

function Times({ held, usualMillis }) {
  useSeconds();
  return el.span({ class: 'pill wait' }, factor((now() - held) / usualMillis), ' × the usual ', span(usualMillis));
}

function Holders({ data, eviction, may }) {
  const { lock, asOfAt } = data;
  const [first, ...more] = lock.holders;
  if (!first) {
    return el.p({ class: 'calm' }, lock.state === 'shut'
      ? ['Nobody holds it. It stays shut for another ', h(Left, { at: asOfAt + lock.shutForMillis }), ': for the at-least time of its last holder, or because that one crashed.']
      : lock.state === 'free' ? lock.lastToken == null && !lock.lastEnd ? 'Nobody holds it: the store has no record of it.' : 'Nobody holds it and nobody waits for it.' : 'Nobody holds it at this moment; it goes to the next waiter.', ending(lock.lastEnd));
  }
  if (more.length > 0) {
    return [el.h3('Holders ', el.span(plural(lock.holders.length, 'session'), lock.permits == null ? '' : ` of a semaphore with ${plural(lock.permits, 'permit')}`)),
      h(Queue, { waiters: lock.holders, asOfAt, eviction, may, held: true })];
  }
  const gone = first.sessionLeftMillis === 0;
  return el.dl({ class: 'facts' },
    el.div(el.dt('Holder'), el.dd({ class: 'mono' }, process(first), el.small(foreign(first.label || first.client || 'no label')))),
    el.div(el.dt('Held for'), el.dd(h(Age, { since: ago(asOfAt, first.sinceMillis) }),
      el.small(first.evicted ? 'evicted' : first.atMostLeftMillis != null ? ['at most ', h(Left, { at: asOfAt + first.atMostLeftMillis }), ' more'] : first.sinceMillis != null && 'since ' + clock(asOfAt - first.sinceMillis)))),
    gone ? el.div(el.dt('Alive'), el.dd({ class: 'deadtext' }, first.ttlMillis ? `No, its session of ${span(first.ttlMillis)} is over` : 'No', el.small(lock.shutForMillis > 0 ? ['shut for another ', h(Left, { at: asOfAt + lock.shutForMillis })] : 'free for the next to ask')))
      : h(Alive, { party: first, at: asOfAt }));
}

const CAUSES = { released: 'was released', at_most: 'ended with its at-most time', evicted: 'was ended by an operator', session_expired: 'ended with its session' };

/** How the last hold has ended, as far as the store tells. */
const ending = end => end && [' The last hold', end.host ? [', of ', el.span({ class: 'mono' }, process(end)), ','] : '', ' ', CAUSES[end.cause], '.'];

function Alive({ party: { session, sessionLeftMillis: left, ttlMillis, renewedAgoMillis: ago }, at }) {
  if (ago != null) return el.div(el.dt('Session'), el.dd('renewed ', h(Age, { since: at - ago }), ' ago', el.small('TTL ' + span(ttlMillis))));
  return el.div(el.dt('Alive'), el.dd(h(Meter, { at: at + left, ttl: ttlOf(session, left, ttlMillis) }),
    el.small({ title: 'How long its session lives without a further renewal' }, h(Left, { at: at + left }), ' left')));
}

function Past({ data, status }) {
  const { data: past } = useLive(lockPath(data.lock.name, 'history', { limit: 1000 }), true);
  useSeconds();
  if (!past || !status) return null;
  const to = now(), from = to - PAST;
  const bars = lanesOf(past.events, data, to);
  const every = status.survey.everyMillis;
  return [
    el.h3('Last 30 minutes', el.span(`seen every ${span(Math.min(every, 2000))}: shorter holds may be missing`), el.a({ href: link('history', null, { lock: data.lock.name }) }, 'History')),
    h(Timeline, { from, to, live: true, lanes: [{ bars: [...unseen(status, from, to), ...bars] }], waits: waitsOf(past.events, data, to),
      label: `Timeline of the holders of the last half hour: ${plural(bars.length, 'hold')}` })];
}

function Foot({ data, status, eviction, may }) {
  const { lock } = data;
  const first = lock.holders[0];
  const token = first?.token ?? lock.lastToken;
  return el.div({ class: 'foot' },
    may && lock.holders.length === 1 && el.button({ class: 'btn stop', onClick: () => eviction.ask(first) }, 'Evict…'),
    status?.allowed.includes('open') && lock.state === 'shut' && el.button({ class: 'btn stop', onClick: eviction.askToOpen }, 'Open now…'),
    el.button({ class: 'btn', onClick: () => copy(JSON.stringify(lock, null, 2)) }, 'Copy as JSON'),
    status && !may && lock.holders.length > 0 && el.p(status.features.includes('eviction')
      ? [status.allowed.length ? 'This console may not evict.' : 'This console only looks.', ' To allow it: ', el.code('--allow close'), ', in Java ', el.code('ConsoleBuilder.allow'), ', in Spring Boot ', el.code('mortise.console.allow'), '.'] : 'This store cannot evict.'),
    token && el.p({ class: 'token' }, first?.token ? 'Token' : 'Last token', el.br(), el.code(token)));
}

const copy = text => navigator.clipboard?.writeText(text).catch(() => {});

function CopyLink() {
  const [done, set] = useState(false);
  const timer = useRef(0);
  const act = () => {
    copy(location.href);
    set(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set(false), 2000);
  };
  return [done && el.span({ class: 'dim', role: 'status' }, 'Copied'),
    el.button({ class: 'icon', 'aria-label': 'Copy a link to this lock', title: 'Copy a link to this lock', onClick: act }, h(Icon, { of: 'link' }))];
}
