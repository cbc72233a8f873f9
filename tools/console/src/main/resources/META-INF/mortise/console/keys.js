import { h } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { el } from './dom.js';

/** Keys for everything. They can be switched off, for readers of the screen that have keys of their own. */

const OFF = 'mortise.keys';
const maps = new Set();

export const areOn = () => localStorage.getItem(OFF) !== 'off';

/** Keys that work while the component is there. @param {Object<string, (e: KeyboardEvent) => void>} map */
export function useKeys(map) {
  const ref = useRef(map);
  ref.current = map;
  // With the elements, not after their paint: a key that is pressed in between would do nothing.
  useLayoutEffect(() => {
    maps.add(ref);
    return () => maps.delete(ref);
  }, []);
}

const FIELD = 'input, select, textarea, [contenteditable]';
const PRESSED = 'button, a, summary';

addEventListener('keydown', e => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  const typing = e.target.matches?.(FIELD);
  if (typing && e.key === 'Escape') return void e.target.blur();
  if (typing || !areOn() || e.key === 'Enter' && e.target.matches?.(PRESSED)) return;
  for (const map of [...maps].reverse()) {
    const action = map.current[e.key];
    if (action) {
      e.preventDefault();
      return void action(e);
    }
  }
});

const ALL = [['/', 'jump to a lock, host or label'], ['j k ↓ ↑', 'move in a list'], ['↵', 'to the detail of the chosen lock'],
  ['e', 'evict its holder, where that is allowed'], ['p', 'pause and go on'], ['t', 'dark or light'], ['1 … 8', 'the pages of the navigation'],
  ['Esc', 'close, or leave a field'], ['?', 'this list']];

/** The list of all keys. */
export function KeyHelp({ onClose }) {
  return h(Dialog, { label: 'keys-h', onClose }, el.form({ onSubmit: e => { e.preventDefault(); onClose(); } },
    el.h2({ id: 'keys-h' }, 'Keys'),
    el.dl({ class: 'keylist' }, ALL.map(([keys, what]) => [el.dt(keys.split(' ').map(k => el.kbd(k))), el.dd(what)])),
    el.label({ class: 'check' }, el.input({ type: 'checkbox', checked: areOn(), onChange: e => localStorage.setItem(OFF, e.target.checked ? 'on' : 'off') }), ' Keys are on'),
    el.div({ class: 'row' }, el.button({ class: 'btn' }, 'Close'))));
}

/** A modal dialog: Escape closes it, and the focus goes back to where it was. */
export function Dialog({ label, onClose, children }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before?.focus?.();
  }, []);
  return el.dialog({ ref, 'aria-labelledby': label, onCancel: e => { e.preventDefault(); onClose(); },
    onClick: e => { if (e.target === ref.current) onClose(); } }, children);
}
