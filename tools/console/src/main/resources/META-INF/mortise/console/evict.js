import { h } from 'preact';
import { useState } from 'preact/hooks';
import { lockPath, post } from './api.js';
import { Age, Left, now, ago } from './clock.js';
import { el } from './dom.js';
import { Dialog } from './keys.js';
import { process } from './lines.js';
import { refresh } from './live.js';
import { foreign, span } from './text.js';

/** Ends a hold or a wait: what it costs is said before, and what came of it afterwards. */

/**
 * @param {string} lock its name
 * @returns {{ party: ?any, waiter: boolean, opening: boolean, ask: Function, askToOpen: Function, close: Function, evict: Function, open: Function, done: ?any }}
 */
export function useEviction(lock) {
  const [asked, setAsked] = useState(null);
  const [opening, setOpening] = useState(false);
  const [done, setDone] = useState(null);
  const close = () => { setAsked(null); setOpening(false); };
  const settle = async (request, party, how) => {
    try {
      const answer = await request;
      setDone({ party, how, at: now(), message: answer.message, shutUntil: answer.shutForMillis == null ? null : now() + answer.shutForMillis, result: answer.result });
      close();
      return null;
    } catch (e) {
      if (e.status === 409 || !party) {
        const holder = e.body?.lock?.lock?.holders?.[0];
        setDone({ party, error: e.message, at: now(), remedy: e.remedy, now: holder });
        close();
        return null;
      }
      return e;
    } finally {
      refresh();
    }
  };
  return {
    party: asked?.party, waiter: asked?.waiter ?? false, done, close,
    ask: (party, waiter = false) => setAsked({ party, waiter }),
    evict: (how, confirm) => settle(post(lockPath(lock, 'evict'), { attempt: asked.party.attempt, token: asked.party.token, how, confirm }), asked.party, how),
    opening, askToOpen: () => setOpening(true),
    open: confirm => settle(post(lockPath(lock, 'open'), { confirm }), null, 'open'),
    forget: () => setDone(null),
  };
}

/** The dialog. */
export function Evict({ eviction, data: { lock, asOfAt }, status }) {
  const { party, waiter } = eviction;
  const allowed = waiter ? ['close'] : ['close', 'break'].filter(how => status.allowed.includes(how));
  const [how, setHow] = useState(allowed[0]);
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const who = process(party);
  const next = lock.waiters[0];
  const ready = how !== 'break' || typed === lock.name;
  const act = async e => {
    e.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    setError(await eviction.evict(how, how === 'break' ? typed : null));
    setBusy(false);
  };
  return h(Dialog, { label: 'evict-h', onClose: eviction.close }, el.form({ onSubmit: act },
    el.h2({ id: 'evict-h' }, waiter ? `End the wait of ${who}?` : `Evict ${who}?`),
    el.p(waiter ? ['It has waited for ', name(lock.name), ' for ', h(Age, { since: ago(asOfAt, party.sinceMillis) }), '. It is told that it does not get the lock.']
      : ['It has held ', name(lock.name), ' for ', h(Age, { since: ago(asOfAt, party.sinceMillis) }), '. ',
        next ? ['Next in the queue: ', name(process(next)), '.'] : 'Nobody waits for it.']),
    !waiter && allowed.includes('close') && h(Way, { value: 'close', how, setHow, title: 'Close: tell it, and wait until it has let go' },
      'The lock stays shut until then, or until ', party.renewedAgoMillis == null
        ? ['its session is over: ', h(Left, { at: asOfAt + party.sessionLeftMillis }), ' if it renews no more']
        : ['a waiter has seen no renewal for ', span(party.ttlMillis)],
      '. Nobody overlaps if it stops within that time.'),
    !waiter && allowed.includes('break') && h(Way, { value: 'break', how, setHow, title: 'Break: free the lock at once' },
      who, ' may go on until it hears of it. ', el.b('Two may then work at the same time'), '; only a resource that checks the token refuses the older one.'),
    how === 'break' && h(Confirm, { lock, typed, setTyped }),
    error && el.p({ class: 'deadtext', role: 'alert' }, error.message, ' ', error.remedy),
    el.div({ class: 'row' }, el.small('Goes to the log and the history'),
      el.button({ class: 'btn', type: 'button', onClick: eviction.close }, 'Cancel'),
      el.button({ class: 'btn fill', disabled: !ready || busy }, waiter ? 'End its wait' : 'Evict'))));
}

const Confirm = ({ lock, typed, setTyped }) => el.label({ class: 'confirm' }, 'Type the lock’s name to confirm',
  el.input({ placeholder: foreign(lock.name), autocomplete: 'off', spellcheck: false, value: typed, onInput: e => setTyped(e.target.value) }));

/** The question before a lock is opened. */
export function Open({ eviction, data: { lock, asOfAt } }) {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const ready = typed === lock.name;
  const act = async e => {
    e.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    await eviction.open(typed);
    setBusy(false);
  };
  return h(Dialog, { label: 'open-h', onClose: eviction.close }, el.form({ onSubmit: act },
    el.h2({ id: 'open-h' }, 'Open the lock now?'),
    el.p(name(lock.name), ' stays shut for another ', h(Left, { at: asOfAt + lock.shutForMillis }),
      '. What its last holder began may still be running: ', el.b('two may then work at the same time'), '.'),
    h(Confirm, { lock, typed, setTyped }),
    el.div({ class: 'row' }, el.small('Goes to the log and the history'),
      el.button({ class: 'btn', type: 'button', onClick: eviction.close }, 'Cancel'),
      el.button({ class: 'btn fill', disabled: !ready || busy }, 'Open'))));
}

const name = text => el.code({ class: 'wrap' }, foreign(text));

const Way = ({ value, how, setHow, title, children }) => el.label({ class: 'form' + (value === 'break' ? ' risk' : '') },
  el.input({ type: 'radio', name: 'how', checked: how === value, onChange: () => setHow(value) }), el.b(title), el.span(children));

/** What came of it. */
export function Outcome({ eviction: { done, forget }, data: { lock } }) {
  if (!done) return null;
  const close = el.button({ class: 'icon', 'aria-label': 'Close this note', onClick: forget }, '✕');
  if (done.error) {
    return el.div({ class: 'note bad', role: 'alert' }, el.p(el.b('Nothing was done. '), done.error, ' ',
      done.now && done.now.attempt !== done.party?.attempt ? [el.b(process(done.now)), ' holds it by now. Look again before you decide.'] : done.remedy), close);
  }
  const holds = done.party && lock.holders.some(party => party.attempt === done.party.attempt);
  const waiting = done.how === 'close' && done.result === 'hold_ended' && holds;
  if (!holds && done.endedAt === undefined) done.endedAt = now();
  const next = lock.holders[0];
  return el.div({ class: 'note', role: 'status' }, el.p(
    waiting ? done.shutUntil == null ? done.message : ['Told ', h(Age, { since: done.at }), ' ago, shut for ', h(Left, { at: done.shutUntil }), ' at most.']
      : done.result === 'hold_ended' ? [el.b(done.how === 'close' ? `Let go after ${span(Math.max(0, done.endedAt - done.at))}. ` : 'Free at once. '),
        next ? [process(next), ' holds it now.'] : 'Nobody holds it now.']
        : done.message), close);
}
