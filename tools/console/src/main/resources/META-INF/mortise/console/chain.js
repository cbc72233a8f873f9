import { h } from 'preact';
import { Age, ago } from './clock.js';
import { classes, el } from './dom.js';
import { process } from './lines.js';
import { link } from './route.js';
import { foreign, plural } from './text.js';

/** Why it takes so long: from the waiters over the holder, and the lock for which that one waits, to the one that waits for nobody. */

const MOST = 4;

/** @param {{ data: any }} props */
export function Chain({ data: { lock, chain, cycle, asOfAt } }) {
  if (!chain.length) return null;
  const [first, ...rest] = chain;
  const shown = rest.slice(0, MOST);
  const root = chain[chain.length - 1];
  return [
    el.h3('Why it takes so long', el.span(cause(first, rest, cycle, asOfAt)), el.a({ href: link('waits') }, 'Whole picture')),
    el.ol({ class: 'chain' },
      el.li({ class: 'node' }, el.b(plural(lock.waiters.length, 'waiting').replace(/s$/, '')), el.small('first ', h(Age, { since: ago(asOfAt, lock.waiters[0].sinceMillis) }))),
      el.li({ class: 'edge wait' }, lock.waiters.length === 1 ? 'waits' : 'wait'),
      el.li({ class: 'node here' }, el.b(process(first.heldBy)), el.small('holds this lock')),
      shown.map(step => el.li({ key: step.lock, class: 'pair' },
        el.span({ class: 'edge wait' }, 'waits'),
        el.span({ class: 'node pill-node' }, el.a({ href: link('lock', step.lock), title: foreign(step.lock) }, el.b(foreign(step.lock))), el.small('wanted')),
        el.span({ class: 'edge held' }, 'holds'),
        el.span({ class: classes('node', step === root && 'root') }, el.b(process(step.heldBy)), el.small('for ', h(Age, { since: ago(asOfAt, step.heldMillis) }))))),
      rest.length > MOST && el.li({ class: 'node' }, el.b('+' + (rest.length - MOST)), el.small('further')),
      cycle && el.li({ class: 'node bad' }, el.b('↻'), el.small('back to the start')))];
}

function cause(first, rest, cycle, asOfAt) {
  if (cycle) return 'the holders wait for each other: a possible deadlock';
  if (!rest.length) return [process(first.heldBy), ' waits for no other lock: look at what it does'];
  return ['the holder itself waits, for ', foreign(rest[0].lock)];
}
