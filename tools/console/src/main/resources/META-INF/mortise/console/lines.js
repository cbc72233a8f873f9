import { el } from './dom.js';
import { foreign, plural, span } from './text.js';

/**
 * What a lock's row and its page say of it.
 *
 * @typedef {{ session: string, attempt: string, host: ?string, pid: ?number, client: ?string, label: string,
 *   mode: string, token: ?string }} Party
 * @typedef {{ name: string, state: string, trouble: string[], permits: ?number, holders: number, waiters: number,
 *   first: ?Party, heldMillis: ?number, waitedMillis: ?number, usualMillis: ?number, shutForMillis: number,
 *   asOfAt: number }} Line
 */

/** `host:pid`, as far as it is known. */
export function process(party) {
  if (!party?.host) return 'a process not known';
  return foreign(party.host) + (party.pid ? ':' + party.pid : '');
}

/** With the client's name: several of one process are told apart. */
export const named = party => party?.client ? [process(party), ' ', el.span({ class: 'dim' }, foreign(party.client))] : process(party);

/** @returns the name of its shape */
export function shapeOf({ state, trouble, permits, holders, first }) {
  if (trouble.includes('cycle')) return 'cycle';
  if (state !== 'held') return state === 'changing hands' ? 'moving' : state;
  return permits != null ? 'permits' : isShared({ holders, first }) ? 'shared' : 'held';
}

/** How it is held. */
export function mode({ state, permits, holders, first }) {
  if (state === 'gone') return 'holder gone';
  if (state !== 'held') return state;
  if (permits != null) return holders === 1 && first?.mode ? first.mode : `${some(holders)} hold, ${plural(permits, 'permit')}`;
  if (isShared({ holders, first })) return holders === 1 ? '1 reader' : some(holders) + ' readers';
  // A survey does not tell one reader from an exclusive holder.
  return first?.mode ?? 'held';
}

/** Several hold without permits only as readers. */
const isShared = ({ holders, first }) => first?.mode === 'shared' || holders > 1;

const some = n => n < 0 ? 'some' : n;

/** The line below its name. */
export function describe(line) {
  if (line.trouble.includes('cycle')) return mode(line) + ', in a cycle';
  if (line.state === 'gone') return line.shutForMillis > 0 ? 'holder gone, shut' : 'holder gone, free for the next to ask';
  if (line.state === 'shut') return 'shut, held by nobody';
  return mode(line);
}

/** The first holder, and how many more there are. */
export const holding = line => line.first == null ? line.state === 'held' ? '…' : '–'
  : process(line.first) + (line.holders > 1 ? ' +' + (line.holders - 1) : line.holders < 0 ? ' +' : '');

/** How its time compares with the usual. */
export function usually(line) {
  if (line.state === 'shut') return el.small('until it opens');
  if (line.usualMillis == null || line.heldMillis == null) return null;
  const times = line.heldMillis / line.usualMillis;
  return line.trouble.includes('long')
    ? el.small({ class: 'over' }, factor(times), ' × usual') : el.small('usually ', span(line.usualMillis));
}

/** 4.8, or 170 */
export const factor = times => times < 10 ? times.toFixed(1) : String(Math.round(times));
