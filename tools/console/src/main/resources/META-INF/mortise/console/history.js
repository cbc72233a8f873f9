import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { query } from './api.js';
import { now, useSeconds } from './clock.js';
import { el } from './dom.js';
import { download } from './download.js';
import { KINDS, Latest, detail } from './events.js';
import { process } from './lines.js';
import { useLive } from './live.js';
import { holds, older, unseen } from './past.js';
import { go, link } from './route.js';
import { clock, count, foreign, span } from './text.js';
import { Timeline } from './timeline.js';

/** What has happened, as bars and as a list; the range is in the address. */

const RANGES = { '5m': 300000, '30m': 1800000, '2h': 7200000, '1d': 86400000 };
const LANES = 14;
const SHOWN = 400;
const { held, ...ASKED } = KINDS;
const FILTERS = ['kind', 'lock', 'process'];

export function History({ route, status }) {
  const asked = Object.fromEntries(FILTERS.filter(name => route.query[name]).map(name => [name, route.query[name]]));
  const { data, error } = useLive('events' + query({ ...asked, limit: 1000 }), true);
  useSeconds();
  const to = changed => go(link('history', null, { ...route.query, ...changed }), true);
  const fixed = route.query.from && route.query.to;
  const until = fixed ? +route.query.to : now(), from = fixed ? +route.query.from : until - (RANGES[route.query.t] ?? RANGES['30m']);
  if (!data || !status) return el.div({ class: 'page' }, el.h1('History'), error && el.p({ class: 'calm' }, error.message));
  const all = [...data.events, ...older(data)];
  const events = all.filter(event => event.at >= from && event.at <= until);
  const rows = route.query.rows === 'lock' ? 'lock' : 'process';
  return el.div({ class: 'page' },
    el.div({ class: 'bar-1 bare' }, el.h1('History'),
      Object.keys(RANGES).map(t => el.button({ key: t, class: 'chip', 'aria-pressed': String(!fixed && (route.query.t ?? '30m') === t), onClick: () => to({ t, from: '', to: '' }) }, t)),
      fixed && el.button({ class: 'chip', 'aria-pressed': 'true', title: 'Back to now', onClick: () => to({ from: '', to: '' }) }, clock(from), ' – ', clock(until), ' ', el.span('✕')),
      el.button({ class: 'btn end', onClick: () => save(events) }, 'CSV')),
    el.div({ class: 'bar-2 bare' },
      h(Choice, { label: 'What', value: route.query.kind, all: 'all kinds', options: ASKED, set: kind => to({ kind }) }),
      h(Field, { label: 'Lock', value: route.query.lock, set: lock => to({ lock }) }),
      asked.process && el.button({ class: 'chip', 'aria-pressed': 'true', onClick: () => to({ process: '' }) }, 'one process ', el.span('✕')),
      h(Choice, { label: 'Rows', value: rows === 'lock' ? 'lock' : '', all: 'a row for each process', options: { lock: 'a row for each lock' }, set: r => to({ rows: r }) })),
    el.p({ class: 'dim' }, `Seen by looking every ${span(Math.min(2000, status.survey.everyMillis))}: shorter holds may be missing. `,
      data.events.length >= 1000 && `The newest 1,000 events are shown, since ${clock(data.events[data.events.length - 1].at)}.`),
    h(Lanes, { events: all, whole: !asked.kind, status, from, until, rows, live: !fixed, onRange: (a, b) => to({ from: Math.round(a), to: Math.round(b), t: '' }) }),
    events.length ? el.div({ class: 'card' }, h(Latest, { events: events.slice(0, SHOWN), locks: true })) : el.p({ class: 'calm' }, 'Nothing happened in this time.'),
    events.length > SHOWN && el.p({ class: 'dim' }, `${count(events.length - SHOWN)} more; the CSV has them.`));
}

const Choice = ({ label, value, all, options, set }) => el.select({ class: 'sort', 'aria-label': label, value: value ?? '', onChange: e => set(e.target.value) },
  el.option({ value: '' }, all), Object.entries(options).map(([key, text]) => el.option({ key, value: key }, text)));

const Field = ({ label, value, set }) => el.label({ class: 'prefix' }, el.span({ class: 'dim' }, label),
  el.input({ 'aria-label': label, value: value ?? '', maxLength: 512, spellcheck: false, onChange: e => set(e.target.value) }));

/** The busiest rows; dragging over them chooses a range. */
function Lanes({ events, whole, status, from, until, rows, live, onRange }) {
  const box = useRef(null);
  const [drag, setDrag] = useState(null);
  const named = new Map();
  for (const { event, bar } of holds(events, new Set(), whole ? now() : null)) {
    if (bar.to < from || bar.from > until) continue;
    const key = rows === 'lock' ? event.lock : event.session;
    if (!named.has(key)) named.set(key, { name: rows === 'lock' ? foreign(event.lock) : foreign(event.client) + ' ' + process(event), href: rows === 'lock' ? link('lock', event.lock) : link('process', event.session), bars: [] });
    named.get(key).bars.push({ ...bar, text: rows === 'lock' ? bar.text : foreign(event.lock), title: `${foreign(event.lock)}: ${bar.title}` });
  }
  const lanes = [...named.values()].sort((a, b) => b.bars.length - a.bars.length).slice(0, LANES);
  if (!lanes.length) return null;
  for (const lane of lanes) lane.bars.unshift(...unseen(status, from, until));
  // The names stand at the left.
  const timeAt = e => {
    const { left, width } = box.current.getBoundingClientRect();
    const names = Math.min(190, width * 0.36);
    return from + Math.max(0, Math.min(1, (e.clientX - left - names) / (width - names))) * (until - from);
  };
  const start = e => { if (e.button === 0 && !e.target.closest('a')) setDrag({ a: timeAt(e), b: timeAt(e) }); };
  const end = () => {
    if (drag && Math.abs(drag.b - drag.a) > (until - from) / 100) onRange(Math.min(drag.a, drag.b), Math.max(drag.a, drag.b));
    setDrag(null);
  };
  return el.div({ class: 'card lanes' },
    el.div({ ref: box, onPointerDown: start, onPointerMove: e => drag && setDrag({ ...drag, b: timeAt(e) }), onPointerUp: end, onPointerLeave: end },
      h(Timeline, { from, to: until, live, lanes, label: `Holds of ${lanes.length} rows, from ${clock(from)} to ${clock(until)}` })),
    el.p({ class: 'dim' }, drag && drag.a !== drag.b ? `${clock(Math.min(drag.a, drag.b))} – ${clock(Math.max(drag.a, drag.b))}` : 'Drag over the bars to zoom. A cell begins where the lock was granted; red ends were lost, amber ends evicted.',
      named.size > LANES && ` The ${LANES} busiest of ${count(named.size)} rows.`));
}

/** Cells that a spreadsheet would take for a formula get a quote. */
const cell = value => {
  const text = String(value ?? '');
  return '"' + (/^[=+\-@\t\r]/.test(text) ? "'" + text : text).replaceAll('"', '""') + '"';
};

function save(events) {
  const lines = [['time', 'kind', 'lock', 'process', 'client', 'token', 'held_ms', 'detail'],
    ...events.map(e => [new Date(e.at).toISOString(), e.kind, e.lock, e.host && `${e.host}:${e.pid}`, e.client, e.token, e.heldMillis, detail(e)])];
  download('mortise-history.csv', lines.map(line => line.map(cell).join(',') + '\r\n').join(''));
}
