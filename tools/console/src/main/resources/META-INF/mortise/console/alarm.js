import { h } from 'preact';
import { Age } from './clock.js';
import { el } from './dom.js';
import { link } from './route.js';
import { Icon } from './shapes.js';
import { foreign } from './text.js';

/** The red bar: a possible deadlock, on each page. */
export function Alarm({ status }) {
  const [first, ...more] = status?.alarms.filter(alarm => alarm.kind === 'cycle') ?? [];
  if (!first) return null;
  return el.div({ class: 'alarm', role: 'status' }, h(Icon, { of: 'warning' }),
    el.span(el.b('Possible deadlock'), ' for ', el.b(h(Age, { since: first.sinceAt })), ': ',
      first.locks.map((lock, i) => [i > 0 && ' ⇄ ', el.a({ class: 'mono', href: link('lock', lock) }, foreign(lock))]),
      more.length > 0 && ` and ${more.length} more`),
    el.a({ class: 'go', href: link('waits') }, 'Show the cycle'));
}
