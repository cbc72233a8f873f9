import { h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, query } from './api.js';
import { Age, Left } from './clock.js';
import { classes, el } from './dom.js';
import { download } from './download.js';
import { useKeys } from './keys.js';
import { Lock } from './lock.js';
import { describe, holding, shapeOf, usually } from './lines.js';
import { go, link } from './route.js';
import { Empty } from './overview.js';
import { MOST, useRows } from './rows.js';
import { Shape } from './shapes.js';
import { useStatus } from './status.js';
import { count, foreign } from './text.js';
import { useNarrow } from './width.js';
import { coming, gap, moves, useWindow } from './windowed.js';

/** All locks, trouble first, and beside them the chosen one. */

const STATES = [['', 'All', 'locks'], ['waited', 'Waited for', 'waited'], ['long', 'Long held', 'long'],
  ['gone', 'Holder gone', 'gone'], ['shut', 'Shut', 'shut']];
const SORTS = { '': 'trouble first', name: 'by name', held: 'longest held first', waiting: 'most waiting first' };

/** @param {{ route: import('./route.js').Route }} props */
export function Locks({ route }) {
  const narrow = useNarrow();
  const filter = pick(route.query, ['state', 'prefix', 'q', 'sort']);
  const [first, setFirst] = useState(null);
  const name = route.page === 'lock' ? route.name : narrow ? null : first;
  const to = changed => go(link('locks', null, { ...filter, ...changed }), true);
  return el.div({ class: classes('split', route.page === 'lock' && 'chosen') },
    narrow && route.page === 'lock' ? null : h(List, { filter, to, name, onFirst: setFirst, narrow }),
    narrow && route.page !== 'lock' ? null
      : name == null ? el.aside({ class: 'detail', 'aria-label': 'The chosen lock' }, el.p({ class: 'calm' }, 'Choose a lock to see its holder, its queue and its last half hour.'))
        : h(Lock, { key: name, name, filter, narrow }));
}

const pick = (from, names) => Object.fromEntries(names.filter(n => from[n]).map(n => [n, from[n]]));

function List({ filter, to, name, onFirst, narrow }) {
  const list = useWindow();
  const counts = useStatus()?.counts;
  const { answer, error, row } = useRows('locks', filter, list.from, list.until);
  const total = Math.min(MOST, answer?.total ?? 0);
  const last = Math.min(list.until, total);
  useEffect(list.toTop, [filter.state, filter.prefix, filter.q, filter.sort]);
  useLayoutEffect(() => { if (answer?.locks[0]) onFirst(old => old ?? answer.locks[0].name); }, [answer?.locks[0]?.name]);

  const at = useRef(0);
  const rows = [];
  for (let i = list.from; i < last; i++) rows.push(row(i));
  const found = rows.findIndex(line => line?.name === name);
  if (found >= 0) at.current = list.from + found;
  useKeys(narrow ? {} : moves(list, total, at.current, i => {
    const line = row(i);
    if (line) go(link('lock', line.name, filter), true);
    return line;
  }));
  const seen = total === 0 ? '' : `${count(list.first + 1)}–${count(Math.min(total, list.first + list.seen))} of `;
  return el.section({ class: 'list', 'aria-label': 'Locks' },
    el.div({ class: 'bar-1' },
      el.h1('Locks'),
      el.select({ class: 'sort', 'aria-label': 'Order', value: filter.sort ?? '', onChange: e => to({ sort: e.target.value }) },
        Object.entries(SORTS).map(([value, text]) => el.option({ value }, text))),
      el.label({ class: 'prefix' }, el.span({ class: 'dim' }, 'Begins with'),
        el.input({ 'aria-label': 'Names that begin with', placeholder: 'invoice/', value: filter.prefix ?? '', maxLength: 200, spellcheck: false,
          onInput: e => to({ prefix: e.target.value }) }))),
    el.div({ class: 'bar-2' },
      STATES.map(([state, text, key]) => el.button({
        key: text, class: 'chip', 'aria-pressed': String((filter.state ?? '') === state), onClick: () => to({ state }) },
      text, ' ', el.span(count(counts?.[key])))),
      filter.q && el.button({ class: 'chip', 'aria-pressed': 'true', title: 'Show all again', onClick: () => to({ q: '' }) }, '“', foreign(filter.q), '” ', el.span('✕')),
      el.button({ class: 'btn small end', title: 'All that the filter finds', onClick: () => save(filter) }, 'CSV')),
    el.div({ class: 'scroll', ref: list.scroll, tabindex: 0, role: 'region', 'aria-label': 'Table of locks', onScroll: list.see },
      el.table({ 'aria-label': 'Locks', 'aria-rowcount': total + 1 },
        el.colgroup(el.col(), el.col({ class: 'c-holder' }), el.col({ class: 'c-held' }), el.col({ class: 'c-wait' })),
        el.thead(el.tr({ 'aria-rowindex': 1 }, el.th({ scope: 'col' }, 'Lock'), el.th({ scope: 'col', class: 'c-holder' }, 'Holder'),
          el.th({ scope: 'col', class: 'num' }, 'Held for'), el.th({ scope: 'col', class: 'num' }, 'Waiting'))),
        el.tbody(
          gap('above', list.from, narrow ? 3 : 4),
          rows.map((line, i) => line ? h(Row, { key: line.name, line, index: list.from + i, chosen: line.name === name, filter })
            : coming(list.from + i, narrow ? 3 : 4)),
          gap('below', total - last, narrow ? 3 : 4))),
      answer && total === 0 && h(Nothing, { filter, answer })),
    error && !answer && el.p({ class: 'calm' }, error.message),
    el.div({ class: 'keys' },
      [['j', 'k', 'move'], ['↵', 'detail'], ['e', 'evict'], ['p', 'pause'], ['?', 'all keys']].map(key => el.span({ key: key[0] },
        key.slice(0, -1).map(k => el.kbd({ key: k }, k)), key[key.length - 1])),
      el.span({ class: 'end' }, answer && seen + count(answer.total))));
}

/** The server writes it: the filter counts, not what has been scrolled to. */
const save = async filter => download('mortise-locks.csv', await (await call('locks' + query(filter), { headers: { Accept: 'text/csv' } })).text());

function Row({ line, index, chosen, filter }) {
  const to = link('lock', line.name, filter);
  const slash = line.name.lastIndexOf('/') + 1;
  const alarming = ['gone', 'cycle'].includes(shapeOf(line));
  return el.tr({ 'aria-rowindex': index + 2, 'aria-selected': String(chosen), onClick: () => go(to) },
    el.td(el.div({ class: 'name' }, h(Shape, { of: shapeOf(line) }),
      el.div(el.a({ class: 'mono', href: to, tabindex: chosen ? 0 : -1, title: foreign(line.name) }, el.i(foreign(line.name.slice(0, slash))), foreign(line.name.slice(slash))),
        el.small({ class: alarming ? 'deadtext' : '' }, describe(line))))),
    el.td({ class: 'c-holder' }, el.span({ class: 'mono' }, holding(line)), el.small(foreign(line.first?.label || line.first?.client || ''))),
    el.td({ class: 'num' }, line.state === 'shut' ? h(Left, { at: line.asOfAt + line.shutForMillis })
      : line.heldMillis == null ? el.span({ class: 'dim' }, '–') : h(Age, { since: line.asOfAt - line.heldMillis }),
    usually(line)),
    el.td({ class: 'num' }, line.waiters !== 0 && [
      el.span({ class: 'q' }, el.span({ class: 'dots', 'aria-hidden': 'true' }, [...Array(Math.min(5, Math.abs(line.waiters)))].map((_, i) => el.i({ key: i }))), el.b(line.waiters < 0 ? 'some' : count(line.waiters))),
      line.waitedMillis != null && el.small('first ', h(Age, { since: line.asOfAt - line.waitedMillis }))]));
}

function Nothing({ filter, answer }) {
  if (Object.keys(filter).length) return el.p({ class: 'calm' }, 'No lock is like that. ', el.a({ href: link('locks') }, 'Show all'));
  return answer.complete === false ? el.p({ class: 'calm' }, 'The first look is under way.') : el.div({ class: 'empty' }, h(Empty));
}
