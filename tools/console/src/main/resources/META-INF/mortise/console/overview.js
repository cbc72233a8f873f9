import { h } from 'preact';
import { Age } from './clock.js';
import { el } from './dom.js';
import { describe, holding, shapeOf, usually } from './lines.js';
import { useLive, useOnce } from './live.js';
import { link } from './route.js';
import { Shape } from './shapes.js';
import { clock, count, foreign, plural, span } from './text.js';

/** All at a glance: how much there is, what is wrong now, what was lost lately, where the locks are. */

export function Overview({ status }) {
  const { data: trouble } = useLive('locks?state=cycle,gone,long,waited,shut&limit=12');
  const { data: past } = useLive('events?limit=1000', true);
  if (!status) return null;
  const { counts, survey } = status;
  return el.div({ class: 'page' },
    el.h1('Overview'),
    el.dl({ class: 'tiles' },
      tile('Held', count(counts.held), 'locks'), tile('Waited for', count(counts.waited), 'locks?state=waited'),
      tile('Longest wait', status.longestWaitMillis ? span(status.longestWaitMillis) : '–', 'locks?sort=waiting'),
      tile('Longest hold', status.longestHoldMillis ? span(status.longestHoldMillis) : '–', 'locks?sort=held'),
      tile('Processes', [count(counts.processes), counts.sessions > counts.processes && el.small(' with ', count(counts.sessions), ' sessions')], 'processes'),
      tile('Guarantees', status.mode ?? h(AskedOnce), status.mode ? 'guarantees' : 'doctor')),
    survey.asOfAt != null && counts.locks === 0 ? h(Empty)
      : trouble && [
        h(Lines, { title: 'Trouble now', none: 'No lock is in trouble.', lines: trouble.locks.filter(isTrouble) }),
        h(Lines, { title: counts.shut ? 'Waited for or shut' : 'Waited for', none: 'Nobody waits.', lines: trouble.locks.filter(line => !isTrouble(line)) }),
        trouble.total > trouble.locks.length && el.p(el.a({ class: 'more', href: link('locks') }, `${count(trouble.total - trouble.locks.length)} more`))],
    past && h(Lately, { events: past.events }),
    status.groups.length > 0 && el.section({ 'aria-label': 'Groups' }, el.h2('Groups ', el.small('names up to their last slash')),
      el.p({ class: 'groups' }, status.groups.map(({ prefix, locks }) => prefix
        ? el.a({ key: prefix, class: 'chip', href: link('locks', null, { prefix }) }, el.span({ class: 'mono' }, foreign(prefix)), ' ', count(locks))
        : el.span({ key: prefix, class: 'chip' }, 'others ', count(locks))))));
}

/** The doctor is asked for the mode of the store, which the next status has. */
function AskedOnce() {
  const { data, error } = useOnce('doctor');
  return data || error ? 'not known' : 'asking …';
}

const tile = (name, value, to) => el.div(el.dt(name), el.dd(el.a({ href: '#/' + to }, value)));

/** A wait alone is none, nor is a lock that its last holder keeps shut. */
const isTrouble = line => line.trouble.some(word => word === 'cycle' || word === 'gone' || word === 'long');

const Lines = ({ title, none, lines }) => el.section({ 'aria-label': title }, el.h2(title),
  lines.length ? el.ul({ class: 'card rows' }, lines.map(line => h(Line, { key: line.name, line }))) : el.p({ class: 'calm' }, none));

const Line = ({ line }) => el.li(h(Shape, { of: shapeOf(line) }),
  el.a({ class: 'mono', href: link('lock', line.name) }, foreign(line.name)),
  el.span({ class: line.trouble.includes('cycle') || line.state === 'gone' ? 'deadtext' : '' }, describe(line),
    line.waiters > 0 && `, ${line.waiters} waiting`, line.waitedMillis != null && [', first for ', h(Age, { since: line.asOfAt - line.waitedMillis })]),
  el.span(usually(line)),
  el.span({ class: 'mono' }, holding(line)));

/** Of the events that the console keeps, the newest thousand. */
function Lately({ events }) {
  if (!events.length) return null;
  const number = kind => events.filter(event => event.kind === kind).length;
  const to = events[0].at, from = Math.max(to - 3600000, events[events.length - 1].at);
  const length = Math.max(60000, to - from), bars = 60;
  const grants = Array(bars).fill(0);
  for (const { at, kind } of events) if (kind === 'granted' && at >= from) grants[Math.min(bars - 1, Math.floor((at - from) / length * bars))]++;
  const most = Math.max(1, ...grants);
  return el.section({ 'aria-label': 'Lately' }, el.h2('Lately ', el.small('since ' + clock(from))),
    el.div({ class: 'card lately' },
      el.svg({ class: 'spark', viewBox: '0 0 240 36', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${plural(number('granted'), 'grant')} since ${clock(from)}` },
        grants.map((n, i) => el.rect({ key: i, x: i * 4, y: 36 - n / most * 34, width: 3, height: n / most * 34 }))),
      el.span(el.b(count(number('granted'))), ' granted'),
      ['lost', 'evicted', 'broken', 'gave_up'].map(kind => el.a({ key: kind, href: link('history', null, { kind }), class: number(kind) && kind !== 'gave_up' ? 'deadtext' : '' }, el.b(count(number(kind))), ' ', kind.replace('_', ' ')))));
}

export const Empty = () => el.section(el.p({ class: 'calm' }, 'No lock is held. The first one is made by'),
  el.pre('mortise run --lock hello -- sleep 60'), el.p({ class: 'calm' }, 'or by'), el.pre('try (Lease lease = client.lock("hello").acquire()) { … }'));
