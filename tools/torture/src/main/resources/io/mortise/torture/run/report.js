import { h, render } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { el } from 'dom.js';
import { Timeline } from 'timeline.js';

/** Draws the run: a row for each lock, its holds coloured by client. A drag chooses a part of it. */

const run = JSON.parse(document.getElementById('run').textContent);
const COLOURS = 6;
const END = ['given back', 'its lease was seen lost', 'its process was killed', 'the run was over'];
/** Columns of a row that has more holds than can be told apart. */
const COLUMNS = 500;

const ms = micros => micros / 1000;
const seconds = millis => (millis / 1000).toFixed(millis < 9999.5 ? 3 : 2) + ' s';
const kind = client => 'c' + client % COLOURS;

/** Each hold by itself: its bar ends where its lease was last seen valid; the rest is hatched. */
function single(hold, shown) {
  const [from, sure, ended, client, end] = hold;
  const title = `client ${client}, at ${seconds(ms(from))}: seen valid for ${seconds(ms(sure))}, then ${END[end]} after ${seconds(ms(ended))}`;
  const bars = [{ from: ms(from), to: ms(from + sure), kind: kind(client), title, text: 'client ' + client }];
  if (ended - sure > shown / COLUMNS * 1000) {
    bars.unshift({ from: ms(from + sure), to: ms(from + ended), kind: 'unseen', title: `client ${client} did not see its lease valid any more; then ${END[end]}` });
  }
  return bars;
}

/** Columns of the client that held longest in each; what was long stands by itself. */
function together(holds, from, to) {
  const width = (to - from) / COLUMNS * 1000, columns = Array.from({ length: COLUMNS }, () => new Map());
  const bars = [];
  for (const hold of holds) {
    const [begin, sure, ended, client] = hold;
    if (ended > 3 * width) {
      bars.push(...single(hold, to - from));
      continue;
    }
    const first = (begin - from * 1000) / width, last = (begin + Math.max(sure, 1) - from * 1000) / width;
    for (let i = Math.max(0, Math.floor(first)); i <= Math.min(COLUMNS - 1, Math.floor(last)); i++) {
      const part = Math.min(last, i + 1) - Math.max(first, i);
      columns[i].set(client, (columns[i].get(client) ?? 0) + part);
    }
  }
  const step = (to - from) / COLUMNS;
  const many = columns.map((column, i) => {
    if (!column.size) return null;
    const [client] = [...column].reduce((a, b) => (b[1] > a[1] ? b : a));
    const clients = [...column.keys()].sort((a, b) => a - b).join(', ');
    return { from: from + i * step, to: from + (i + 1) * step, kind: kind(client) + ' many',
      title: `short holds of client ${clients}, one after the other; drag over them to see each` };
  });
  return [...many.filter(Boolean), ...bars];
}

function lane(lock, from, to) {
  const holds = lock.holds.filter(([begin, , ended]) => ms(begin + ended) >= from && ms(begin) <= to);
  const shown = to - from;
  const bars = holds.length <= COLUMNS / 4 ? holds.flatMap(hold => single(hold, shown)) : together(holds, from, to);
  const hidden = bar => lock.overlaps.some(([begin, length]) => ms(begin + length) > bar.from && ms(begin) < bar.to);
  const within = ([begin, length]) => ms(begin + length) >= from && ms(begin) <= to;
  return { name: lock.name, bars: [...bars.map(bar => bar.text && hidden(bar) ? { ...bar, text: '' } : bar),
    ...lock.overlaps.filter(within).map(([begin, length, one, other]) => ({ from: ms(begin), to: ms(begin + length), kind: 'overlap',
      title: `clients ${one} and ${other} both believed to hold ${lock.name} for ${seconds(ms(length))}` })),
    ...run.marks.filter(([name, at]) => name === lock.name && ms(at) >= from && ms(at) <= to).map(([, at, text]) => ({
      from: ms(at), to: ms(at), kind: 'lost', title: text, note: 'broken' }))] };
}

const said = millis => (millis / 1000).toLocaleString('en', { maximumFractionDigits: 3 }) + ' s';

function Picture() {
  const whole = ms(run.length);
  const [[from, to], choose] = useState([0, whole]);
  const [drag, setDrag] = useState(null);
  const box = useRef(null);
  const faults = run.faults.filter(([, , begin, end]) => ms(end) >= from && ms(begin) <= to);
  const bands = faults.map(([, , begin, end]) => ({ from: ms(begin), to: ms(end) }));
  const lanes = [
    { name: 'faults', bars: faults.map(([name, client, begin, end]) => ({ from: ms(begin), to: ms(end), kind: 'fault', text: name,
      title: `${name}${client ? ' to client ' + client : ''}, from ${seconds(ms(begin))} to ${seconds(ms(end))}` })) },
    ...run.locks.map(lock => lane(lock, from, to))];
  // The names stand at the left, as the timeline has them.
  const timeAt = e => {
    const { left, width } = box.current.getBoundingClientRect();
    const names = Math.min(190, width * 0.36);
    return from + Math.max(0, Math.min(1, (e.clientX - left - names) / (width - names))) * (to - from);
  };
  const end = () => {
    if (drag && Math.abs(drag.b - drag.a) > (to - from) / 200) choose([Math.min(drag.a, drag.b), Math.max(drag.a, drag.b)]);
    setDrag(null);
  };
  const zoom = factor => {
    const middle = (from + to) / 2, half = Math.min(whole, (to - from) * factor) / 2;
    const begin = Math.max(0, Math.min(middle - half, whole - 2 * half));
    choose([begin, begin + 2 * half]);
  };
  const move = by => {
    const begin = Math.max(0, Math.min(from + by * (to - from), whole - (to - from)));
    choose([begin, begin + to - from]);
  };
  return el.div({ class: 'card' },
    el.p({ class: 'tools' },
      el.button({ onClick: () => move(-0.5), disabled: from <= 0, 'aria-label': 'Earlier' }, '←'),
      el.button({ onClick: () => move(0.5), disabled: to >= whole, 'aria-label': 'Later' }, '→'),
      el.button({ onClick: () => zoom(0.25), disabled: to - from < 20 }, 'Closer'),
      el.button({ onClick: () => zoom(4), disabled: to - from >= whole }, 'Further'),
      el.button({ onClick: () => choose([0, whole]), disabled: to - from >= whole }, 'Whole run'),
      el.span({ class: 'dim' }, drag && drag.a !== drag.b ? `${said(Math.min(drag.a, drag.b))} – ${said(Math.max(drag.a, drag.b))}` : `${said(from)} – ${said(to)}. Drag over the bars to look closer.`)),
    el.div({ ref: box, class: 'lanes',
      onPointerDown: e => e.button === 0 && setDrag({ a: timeAt(e), b: timeAt(e) }), onPointerMove: e => drag && setDrag({ ...drag, b: timeAt(e) }), onPointerUp: end, onPointerLeave: end },
      h(Timeline, { from, to, lanes, bands, said, least: 1, label: `Holds of ${run.locks.length} locks, and faults` })));
}

const swatch = (name, text) => el.span({ class: 'swatch' }, el.svg({ class: 'time', width: 22, height: 12, 'aria-hidden': 'true' }, el.rect({ class: 'bar ' + name, width: 22, height: 12, rx: 2.5 })), text);

function Legend() {
  const clients = [...new Set(run.locks.flatMap(lock => lock.holds.map(hold => hold[3])))].sort((a, b) => a - b);
  return [
    el.p({ class: 'legend' },
      Array.from({ length: Math.min(COLOURS, clients.length) }, (_, i) => clients.filter(client => client % COLOURS === clients[i] % COLOURS))
        .map(same => swatch(kind(same[0]), `client ${same.slice(0, 6).join(', ')}${same.length > 6 ? ', …' : ''}`)),
      swatch('c0 many', 'many short holds: the client that held longest'),
      swatch('unseen', 'not seen valid any more, and not yet given back'),
      swatch('overlap', 'two believed to hold'),
      swatch('fault', 'a fault')),
    el.table({ class: 'locks' }, el.tbody(run.locks.map(lock => el.tr({ key: lock.name },
      el.td(el.code(lock.name)), el.td({ class: 'number' }, lock.holds.length.toLocaleString('en')), el.td('holds'),
      el.td({ class: 'number' + (lock.overlaps.length ? ' bad' : '') }, lock.overlaps.length.toLocaleString('en')), el.td('overlaps'), el.td(lock.what))))),
    run.leftOut > 0 && el.p({ class: 'dim' }, `Holds of less than ${seconds(ms(run.leftOut))} are left out of this page. The checker has judged them all.`)];
}

render(h(Picture), document.getElementById('picture'));
render(el.div(h(Legend)), document.getElementById('legend'));
