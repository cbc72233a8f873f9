import { h } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Age, Left, Meter, ago } from './clock.js';
import { classes, el } from './dom.js';
import { Latest } from './events.js';
import { useKeys } from './keys.js';
import { process } from './lines.js';
import { useLive } from './live.js';
import { ttlOf } from './sessions.js';
import { go, link } from './route.js';
import { useRows } from './rows.js';
import { Icon } from './shapes.js';
import { clock, count, foreign } from './text.js';
import { useNarrow } from './width.js';
import { coming, gap, moves, useWindow } from './windowed.js';

/** The processes that hold, wait or live, and beside them the chosen one. */

export function Processes({ route }) {
  const narrow = useNarrow();
  const chosen = route.page === 'process' ? route.name : null;
  const q = route.query.q ?? '';
  return el.div({ class: classes('split', chosen && 'chosen') },
    narrow && chosen ? null : h(List, { q, chosen, narrow }),
    narrow && !chosen ? null : chosen ? h(Process, { key: chosen, session: chosen, narrow })
      : el.aside({ class: 'detail', 'aria-label': 'The chosen process' }, el.p({ class: 'calm' }, 'Choose a process to see what it holds and what it waits for.')));
}

function List({ q, chosen, narrow }) {
  const list = useWindow();
  const { answer, error, row } = useRows('processes', q ? { q } : {}, list.from, list.until);
  const total = answer?.total ?? 0;
  const last = Math.min(list.until, total);
  useEffect(list.toTop, [q]);
  const rows = [];
  for (let i = list.from; i < last; i++) rows.push(row(i));
  const at = useRef(-1);
  const found = rows.findIndex(each => each?.session === chosen);
  if (found >= 0) at.current = list.from + found;
  useKeys(narrow ? {} : moves(list, total, at.current, i => {
    if (row(i)) go(link('process', row(i).session, { q }), true);
    return row(i);
  }));
  return el.section({ class: 'list', 'aria-label': 'Processes' },
    el.div({ class: 'bar-1' }, el.h1('Processes'),
      el.label({ class: 'prefix' }, el.span({ class: 'dim' }, 'With'), el.input({ 'aria-label': 'Host or label', placeholder: 'host or label', value: q, maxLength: 200, spellcheck: false, onInput: e => go(link('processes', null, { q: e.target.value }), true) }))),
    el.div({ class: 'scroll', ref: list.scroll, tabindex: 0, role: 'region', 'aria-label': 'Table of processes', onScroll: list.see },
      el.table({ 'aria-label': 'Processes', 'aria-rowcount': total + 1 },
        el.colgroup(el.col(), el.col({ class: 'c-alive' }), el.col({ class: 'c-n' }), el.col({ class: 'c-n' }), el.col({ class: 'c-since' })),
        el.thead(el.tr({ 'aria-rowindex': 1 }, ['Process', 'Alive', 'Holds', 'Waits', 'Seen since'].map((head, i) => el.th({ scope: 'col', class: classes(i > 1 && 'num', i === 1 && 'c-alive', i === 4 && 'c-since') }, head)))),
        el.tbody(gap('above', list.from, narrow ? 4 : 5),
          rows.map((each, i) => each ? h(Row, { key: each.session, each, index: list.from + i, chosen: each.session === chosen, q, asOfAt: answer.asOfAt }) : coming(list.from + i, narrow ? 4 : 5)),
          gap('below', total - last, narrow ? 4 : 5))),
      answer && total === 0 && el.p({ class: 'calm' }, q ? 'No process is like that.' : 'No process holds a lock or waits for one.')),
    error && !answer && el.p({ class: 'calm' }, error.message),
    el.div({ class: 'keys' }, el.span(el.kbd('j'), el.kbd('k'), 'move'), el.span({ class: 'end' }, count(answer?.total))));
}

function Row({ each, index, chosen, q, asOfAt }) {
  const to = link('process', each.session, { q });
  return el.tr({ 'aria-rowindex': index + 2, 'aria-selected': String(chosen), onClick: () => go(to) },
    el.td(el.a({ class: 'mono', href: to, tabindex: chosen ? 0 : -1 }, process(each)), el.small(foreign(each.client || ''))),
    el.td({ class: 'c-alive' }, h(Alive, { each })),
    el.td({ class: 'num' }, each.holds), el.td({ class: classes('num', each.waits > 0 && 'over') }, each.waits),
    el.td({ class: 'num c-since' }, clock(each.sinceAt)));
}

function Alive({ each }) {
  if (each.gone || each.leftMillis === 0) return el.span({ class: 'deadtext' }, 'over');
  if (each.leftMillis == null) return el.span({ class: 'dim' }, 'seen ', h(Age, { since: each.seenAt }), ' ago');
  if (each.renewedAgoMillis != null) return el.span({ title: 'when its session was renewed, by the clocks of two hosts' }, 'renewed ', h(Age, { since: each.seenAt - each.renewedAgoMillis }), ' ago');
  if (!each.holds) return el.span({ class: 'dim', title: 'A process that holds nothing has a short session, which it renews as often.' }, each.waits ? 'waiter' : 'idle');
  const at = each.seenAt + each.leftMillis;
  return [h(Meter, { at, ttl: ttlOf(each.session, each.leftMillis, each.ttlMillis) }), el.small(h(Left, { at }), ' left')];
}

function Process({ session, narrow }) {
  const { data, error } = useLive('processes/' + encodeURIComponent(session));
  useKeys({ Escape: () => go(link('processes')) });
  const it = data?.process;
  return el.aside({ class: 'detail', id: 'detail', tabindex: -1, 'aria-label': 'The chosen process' }, el.div({ class: 'body', tabindex: 0, role: 'region', 'aria-label': 'All about the process' },
    el.div({ class: 'head' }, narrow && el.a({ class: 'icon back', href: link('processes'), 'aria-label': 'Back to the list' }, h(Icon, { of: 'back' })), el.h2({ class: 'mono' }, it ? process(it) : foreign(session))),
    error && !data && el.p({ class: 'calm' }, error.message, ' ', error.remedy),
    it && [
      el.dl({ class: 'facts' },
        el.div(el.dt('Client'), el.dd(foreign(it.client || '–'))),
        el.div(el.dt('Seen since'), el.dd(clock(it.sinceAt), el.small('last ', h(Age, { since: it.seenAt }), ' ago'))),
        el.div(el.dt('Alive'), el.dd(h(Alive, { each: it })))),
      h(Locks, { title: 'Holds', word: 'held', list: data.holds }),
      h(Locks, { title: 'Waits for', word: 'waits', list: data.waits }),
      data.events?.length > 0 && [el.h3('Latest', el.a({ href: link('history', null, { process: session }) }, 'All of them')), h(Latest, { events: data.events.slice(0, 20), locks: true })]]));
}

const Locks = ({ title, word, list }) => list.length > 0 && [el.h3(title),
  el.ul({ class: 'card rows' }, list.map(each => el.li({ key: each.attempt }, el.a({ class: 'mono', href: link('lock', each.lock) }, foreign(each.lock)),
    el.span({ class: 'dim' }, each.mode, each.label && ', ' + foreign(each.label)), each.sinceMillis != null && el.span(word, ' ', h(Age, { since: ago(each.asOfAt, each.sinceMillis) })))))];
