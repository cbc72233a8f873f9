import { el, classes } from './dom.js';
import { layout } from './graph.js';
import { process } from './lines.js';
import { link } from './route.js';
import { foreign, plural } from './text.js';

/** The picture of who waits for whom: boxes are sessions, rounded ones are locks. */

/** Parts above which only the tree is shown. */
export const MOST = 60;
const WIDE = 158, HIGH = 40, ACROSS = 232, DOWN = 58, PAD = 16;
/** Waiters of one lock, above which those who hold nothing are drawn as one. */
const CROWD = 4;

/** @param {{ data: any, nodes: Map<string, any> }} props */
export function Picture({ data, nodes }) {
  const { parts, arrows } = partsOf(data, nodes);
  const { places, layers, rows } = layout([...parts.keys()], arrows);
  const x = id => PAD + places.get(id).layer * ACROSS, y = id => PAD + 26 + places.get(id).row * DOWN;
  const width = PAD * 2 + (layers - 1) * ACROSS + WIDE, height = PAD * 2 + 52 + (rows - 1) * DOWN + HIGH;
  const label = `${plural(data.nodes.length, 'session')}, and who waits for whom. The tree says the same in words.`;
  return el.div({ class: 'card picture', tabindex: 0, role: 'region', 'aria-label': 'Picture of the waits' }, el.svg({ viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': label },
    el.defs(['wait', 'held', 'bad'].map(kind => el.marker({ key: kind, id: 'to-' + kind, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, el.path({ class: 'arrow ' + kind, d: 'M1 1l6 3-6 3' })))),
    arrows.map(arrow => drawn(arrow, x, y)),
    [...parts.values()].map(part => el.a({ key: part.id, href: part.href, class: classes('part', part.kind, part.bad && 'bad') },
      el.title(part.full),
      el.rect({ x: x(part.id), y: y(part.id), width: WIDE, height: HIGH, rx: part.kind === 'lock' ? HIGH / 2 : 8 }),
      el.text({ x: x(part.id) + WIDE / 2, y: y(part.id) + (part.small ? 18 : 24), 'text-anchor': 'middle' }, cut(part.text)),
      part.small && el.text({ class: 's', x: x(part.id) + WIDE / 2, y: y(part.id) + 32, 'text-anchor': 'middle' }, cut(part.small))))));
}

const cut = text => text.length > 20 ? text.slice(0, 9) + '…' + text.slice(-10) : text;

function drawn({ from, to, kind, bad, title }, x, y) {
  const a = [x(from) + WIDE, y(from) + HIGH / 2], b = [x(to) - 2, y(to) + HIGH / 2];
  const tone = bad ? 'bad' : kind;
  const d = b[0] > a[0] ? `M${a}C${a[0] + 44} ${a[1]} ${b[0] - 44} ${b[1]} ${b}` : around(from, to, x, y);
  return el.path({ key: from + '>' + to, class: classes('arrow', tone, kind === 'wait' && 'dashed'), d, 'marker-end': `url(#to-${tone})` }, el.title(title));
}

/** Back to the left: above the boxes. */
function around(from, to, x, y) {
  const a = [x(from) + WIDE / 2, y(from)], b = [x(to) + WIDE / 2, y(to) - 2];
  const top = Math.min(a[1], b[1]) - 34;
  return `M${a}C${a[0]} ${top} ${b[0]} ${top} ${b}`;
}

function partsOf(data, nodes) {
  const parts = new Map(), arrows = new Map();
  const cycles = { sessions: new Set(data.cycles.flatMap(c => c.sessions)), locks: new Set(data.cycles.flatMap(c => c.locks)) };
  const holders = new Set(data.edges.map(edge => edge.to));
  const lock = name => {
    const id = 'lock ' + name;
    parts.set(id, { id, kind: 'lock', text: foreign(name), full: foreign(name), href: link('lock', name), bad: cycles.locks.has(name) });
    return id;
  };
  const session = key => {
    const text = process(nodes.get(key));
    parts.set(key, { id: key, kind: 'process', text, small: foreign(nodes.get(key)?.client), full: `${text} ${foreign(nodes.get(key)?.client)}`, href: link('process', key), bad: cycles.sessions.has(key) });
    return key;
  };
  const arrow = (from, to, kind, title) => arrows.set(from + '>' + to, { from, to, kind, title, bad: parts.get(from).bad && parts.get(to).bad });
  const queue = (name, sessions) => {
    const middle = lock(name);
    const waiting = [...new Set(sessions)];
    const leaves = waiting.filter(key => !holders.has(key));
    const crowd = leaves.length > CROWD ? leaves.slice(CROWD - 1) : [];
    for (const key of waiting) if (!crowd.includes(key)) arrow(session(key), middle, 'wait', 'waits');
    if (crowd.length) {
      const id = 'crowd ' + name;
      parts.set(id, { id, kind: 'process', text: `${crowd.length} more`, full: `${crowd.length} more wait`, href: link('lock', name) });
      arrow(id, middle, 'wait', 'wait');
    }
    return middle;
  };
  for (const [name, edges] of Map.groupBy(data.edges, edge => edge.lock)) {
    const middle = queue(name, edges.map(edge => edge.from));
    for (const key of new Set(edges.map(edge => edge.to))) arrow(middle, session(key), 'held', 'held by');
  }
  // Nobody holds these: they are shut, or about to change hands.
  for (const { lock: name, state, waiters } of data.unheld) {
    parts.get(queue(name, waiters.map(waiter => waiter.session))).small = state;
  }
  return { parts, arrows: [...arrows.values()] };
}
