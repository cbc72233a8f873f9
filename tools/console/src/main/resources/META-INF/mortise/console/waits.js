import { h } from 'preact';
import { Age, ago } from './clock.js';
import { el } from './dom.js';
import { named } from './lines.js';
import { useLive } from './live.js';
import { go, link } from './route.js';
import { foreign, plural } from './text.js';
import { MOST, Picture } from './picture.js';

/** Who waits for whom: as a picture, and as a tree whose roots wait for nobody. */

export function Waits({ route }) {
  const { data, error } = useLive('waits');
  if (!data) return el.div({ class: 'page' }, el.h1('Waits'), error && el.p({ class: 'calm' }, error.message));
  const nodes = new Map(data.nodes.map(node => [node.session, node]));
  const size = data.nodes.length + new Set(data.edges.map(edge => edge.lock)).size + data.unheld.length;
  const tree = route.query.as ? route.query.as === 'tree' : size > MOST;
  const as = (value, text) => el.button({ class: 'chip', 'aria-pressed': String((value === 'tree') === tree), onClick: () => go(link('waits', null, { as: value }), true) }, text);
  return el.div({ class: 'page' },
    el.div({ class: 'bar-1 bare' }, el.h1('Waits'), as('picture', 'Picture'), as('tree', 'Tree')),
    data.cycles.map(cycle => h(Cycle, { key: cycle.sessions.join(), cycle, data, nodes })),
    !data.edges.length && !data.unheld.length ? el.p({ class: 'calm' }, 'Nobody waits for a lock that somebody holds.')
      : tree ? h(Tree, { data, nodes }) : size > MOST ? el.p({ class: 'calm' }, `A picture of ${size} parts shows nothing. Take the tree.`)
        : h(Picture, { data, nodes }));
}

/** What to do about a cycle. */
function Cycle({ cycle, data, nodes }) {
  const inside = data.edges.filter(edge => cycle.sessions.includes(edge.from) && cycle.sessions.includes(edge.to));
  return el.section({ class: 'note bad', 'aria-label': 'Possible deadlock' }, el.div(
    el.p(el.b('↻ Possible deadlock'), ', for ', h(Age, { since: cycle.sinceAt })),
    el.ul(inside.map(edge => el.li({ key: edge.attempt + edge.to }, el.code(named(nodes.get(edge.from))), ' waits for ', lockLink(edge.lock), ', held by ', el.code(named(nodes.get(edge.to))), ', for ', h(Age, { since: ago(data.asOfAt, edge.sinceMillis) })))),
    el.p('To end it, evict one of the holders: ', cycle.locks.map((lock, i) => [i > 0 && ' or ', lockLink(lock)]), '. ',
      'Two threads of one process are not told apart: look again before you do.')));
}

const lockLink = lock => el.a({ class: 'mono link', href: link('lock', lock) }, foreign(lock));

function Tree({ data, nodes }) {
  return el.div({ class: 'card tree' },
    el.ul(data.trees.map(tree => h(Branch, { key: tree.session, branch: tree, data, nodes })),
      data.unheld.map(({ lock, state, waiters }) => el.li({ key: lock }, el.p(lockLink(lock), el.span({ class: 'dim' }, ' ', state)),
        el.ul(waiters.map(waiter => h(Branch, { key: waiter.attempt, branch: waiter, data, nodes, waits: true })))))));
}

function Branch({ branch, data, nodes, waits = false }) {
  return el.li(
    el.p(el.a({ class: 'mono', href: link('process', branch.session) }, named(nodes.get(branch.session))), el.span({ class: 'dim' }, ' ', foreign(branch.label)),
      waits && el.span({ class: 'wait' }, ' waits ', h(Age, { since: ago(data.asOfAt, branch.sinceMillis) })), branch.again && el.span({ class: 'dim' }, ' (see above)')),
    branch.holds.length > 0 && el.ul(branch.holds.map(hold => el.li({ key: hold.lock },
      el.p(el.span({ class: 'dim' }, 'holds '), lockLink(hold.lock), el.span({ class: 'dim' }, ' for ', h(Age, { since: ago(data.asOfAt, hold.sinceMillis) }), ', ', plural(hold.waiters.length, 'waiter'))),
      el.ul(hold.waiters.map(waiter => h(Branch, { key: waiter.attempt, branch: waiter, data, nodes, waits: true })))))));
}
