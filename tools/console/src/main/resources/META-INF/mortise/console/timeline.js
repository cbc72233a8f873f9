import { el } from './dom.js';
import { clock, span } from './text.js';
import { useWidth } from './width.js';

/**
 * Bars over time: who held when, in one lane or in several, and a line of how many waited.
 *
 * @typedef {'held' | 'shared' | 'lost' | 'evicted' | 'now' | 'unseen'} Kind
 * @typedef {{ from: number, to: number, kind: Kind, title: string, text?: string, note?: string }} Bar
 *   `text` stands on the bar if it has room, `note` above it
 * @typedef {{ name?: string, href?: string, bars: Bar[] }} Lane
 * @typedef {{ at: number, n: number }} Step that many from then on
 */

const TOP = 14, HIGH = 22, GAP = 8, STEPS = 62, AXIS = 18;
const TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map(s => s * 1000);

/** How far marks of the time lie apart, so that at most `most` of them are seen; `least` milliseconds. */
export const tick = (length, most, least = 1000) => TICKS.find(t => t >= least && length / t <= most) ?? Math.ceil(length / most / 86400000) * 86400000;

/** The path of a line of steps, and how high it gets. */
export function steps(list, x, base, height) {
  const most = Math.max(1, ...list.map(s => s.n));
  const y = n => base - n / Math.max(most, 4) * height;
  let path = '', last = 0;
  for (const { at, n } of list) {
    path += `${path ? 'L' : 'M'}${x(at)} ${y(last)}L${x(at)} ${y(n)}`;
    last = n;
  }
  return { path, y: y(last), last };
}

/**
 * `bands` lie behind all lanes; `said` writes a time at the axis, whose marks are `least` apart.
 *
 * @param {{ from: number, to: number, lanes: Lane[], waits?: Step[], bands?: { from: number, to: number }[], label: string, live?: boolean,
 *   said?: (time: number) => string, least?: number }} props
 */
export function Timeline({ from, to, lanes, waits = [], bands = [], label, live = false, said, least }) {
  const [ref, width] = useWidth(508);
  const named = lanes.some(lane => lane.name);
  const left = named ? Math.min(190, width * 0.36) : 0;
  const x = time => left + (Math.max(from, Math.min(to, time)) - from) / (to - from) * (width - left);
  const bottom = TOP + lanes.length * (HIGH + GAP);
  const base = waits.length ? bottom + STEPS - GAP : bottom;
  return el.svg({ ref, class: 'time', viewBox: `0 0 ${width} ${base + AXIS}`, height: base + AXIS, role: named ? 'group' : 'img', 'aria-label': label },
    el.defs(el.pattern({ id: 'unseen', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      el.path({ d: 'M0 0v5', class: 'hatch' }))),
    bands.map(band => el.rect({ key: 'band' + band.from, class: 'band', x: x(band.from), y: TOP - 4, width: Math.max(1, x(band.to) - x(band.from)), height: base - TOP + 4 })),
    marks(from, to, x, base, width - left, { live, said, least }),
    lanes.map((lane, i) => {
      const y = TOP + i * (HIGH + GAP);
      return el.g({ key: lane.name ?? i },
        lane.name && titled(lane, el.text({ class: 'lane', x: 0, y: y + 15 }, cut(lane.name, left))),
        lane.bars.map(bar => one(bar, y, x)));
    }),
    waits.length ? waiting(waits, x, base, width) : null,
    el.path({ d: `M${left} ${base + 0.5}H${width}`, class: 'base' }));
}

const titled = (lane, text) => lane.href ? el.a({ href: lane.href }, text) : text;

const cut = (text, width) => text.length * 7.2 > width - 10 ? text.slice(0, Math.max(1, Math.floor((width - 10) / 7.2) - 1)) + '…' : text;

function marks(from, to, x, base, room, { live, said, least }) {
  const step = tick(to - from, Math.max(2, Math.floor(room / 78)), least);
  const list = [];
  const start = live ? to : Math.floor(to / step) * step;
  for (let at = start; at >= from; at -= step) list.push(at);
  return list.map(at => el.g({ key: to - at },
    el.path({ d: `M${x(at)} ${TOP}V${base}`, class: 'hair' }),
    el.text({ x: x(at), y: base + 14, 'text-anchor': x(at) > x(to) - 24 ? 'end' : x(at) < x(from) + 24 ? 'start' : 'middle' },
      said ? said(at) : !live ? clock(at).replace(step % 60000 ? '' : /:\d\d$/, '') : at === to ? 'now' : '−' + span(to - at))));
}

function one(bar, y, x) {
  const width = Math.max(1.5, x(bar.to) - x(bar.from) - 1);
  const at = x(bar.from);
  return el.g({ key: bar.kind + bar.from },
    el.rect({ class: 'bar ' + bar.kind, x: at, y, width, height: HIGH, rx: bar.kind === 'unseen' ? 0 : 2.5 }, el.title(bar.title)),
    (bar.kind === 'lost' || bar.kind === 'evicted') && el.path({ class: 'end ' + bar.kind, d: `M${at + width} ${y - 3}v${HIGH + 6}` }),
    bar.note && el.text({ class: bar.kind, x: at + width, y: y - 4, 'text-anchor': at + width > 120 ? 'end' : 'start' }, bar.note),
    bar.text && bar.text.length * 6.4 < width && el.text({ class: 'on ' + bar.kind, x: at + width / 2, y: y + 15, 'text-anchor': 'middle' }, bar.text));
}

function waiting(list, x, base, width) {
  const { path, y, last } = steps(list, x, base, STEPS - 26);
  return el.g(
    el.path({ class: 'waitarea', d: `${path}L${width} ${y}L${width} ${base}L${x(list[0].at)} ${base}Z` }),
    el.path({ class: 'waitline', d: `${path}L${width} ${y}` }),
    last > 0 && el.text({ class: 'wait', x: width - 4, y: y - 4, 'text-anchor': 'end' }, last + ' waiting'));
}
