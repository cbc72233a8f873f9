import { h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { get, query } from './api.js';
import { el } from './dom.js';
import { useKeys } from './keys.js';
import { describe, holding, shapeOf } from './lines.js';
import { go, link } from './route.js';
import { Icon, Shape } from './shapes.js';
import { foreign } from './text.js';

/** Jumps to a lock by part of its name, its holder's host or label. An exact name is always found: the store is asked. */

const MOST = 7;

export function Jump() {
  const input = useRef(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState([]);
  const [at, setAt] = useState(0);
  useKeys({ '/': () => input.current.focus() });
  // At once: Enter must not go to what an earlier text has found.
  useLayoutEffect(() => {
    setAt(0);
    setFound([]);
    if (!text) return undefined;
    const abort = new AbortController();
    const ask = () => get('locks' + query({ q: text, limit: MOST }), abort.signal).then(answer => setFound(answer.locks), () => {});
    const first = setTimeout(ask, 120), again = setInterval(ask, 2000);
    return () => { clearTimeout(first); clearInterval(again); abort.abort(); };
  }, [text]);
  const options = text ? [
    ...found.map(line => ({ to: link('lock', line.name), key: line.name, content: [h(Shape, { of: shapeOf(line) }), el.span({ class: 'mono' }, foreign(line.name)), el.small(holding(line), ' ', describe(line))] })),
    ...found.some(line => line.name === text) ? [] : [{ to: link('lock', text), key: ' exact', content: [h(Icon, { of: 'search' }), el.span('The lock named exactly “', foreign(text), '”')] }],
    { to: link('locks', null, { q: text }), key: ' list', content: [h(Icon, { of: 'locks' }), el.span('All locks with “', foreign(text), '”')] }] : [];
  const done = to => {
    setText('');
    input.current.blur();
    go(to);
  };
  const onKeyDown = e => {
    if (e.key === 'ArrowDown') setAt(Math.min(options.length - 1, at + 1));
    else if (e.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (e.key === 'Enter' && options[at]) done(options[at].to);
    else if (e.key === 'Escape') { setText(''); input.current.blur(); } else return;
    e.preventDefault();
  };
  return el.div({ class: 'jump' }, h(Icon, { of: 'search' }),
    el.input({ ref: input, value: text, maxLength: 512, spellcheck: false, autocomplete: 'off', 'aria-label': 'Jump to a lock, host or label', placeholder: 'Jump to lock, host, label',
      role: 'combobox', 'aria-expanded': String(options.length > 0), 'aria-controls': 'jumps', 'aria-autocomplete': 'list',
      'aria-activedescendant': options.length ? 'jump-' + at : null, onInput: e => setText(e.target.value), onKeyDown }),
    el.kbd('/'),
    el.ul({ id: 'jumps', role: 'listbox', 'aria-label': 'Found', hidden: !options.length }, options.map((option, i) =>
      el.li({ key: option.key, id: 'jump-' + i, role: 'option', 'aria-selected': String(i === at), onMouseDown: e => { e.preventDefault(); done(option.to); } }, option.content))));
}
