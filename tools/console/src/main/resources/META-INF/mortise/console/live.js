import { useEffect, useReducer, useState } from 'preact/hooks';
import { get, query } from './api.js';
import { setNow, stop } from './clock.js';
import { merged, stream } from './stream.js';

/**
 * What the open pages show, kept fresh while the tab is seen and not paused: by one stream, and by
 * asking again for what the stream does not have. What came before stays when an answer fails.
 *
 * @typedef {{ data: ?any, error: ?import('./api.js').ApiError }} Answer
 * @typedef {Answer & { users: Set<() => void>, busy: ?AbortController, grows: boolean }} Watched
 */

const EVERY = 2000;
const LONGEST = 30000;
/** A list of events is cut there. */
const EVENTS = 1000;

/** @type {Map<string, Watched>} */
const watched = new Map();
const onlookers = new Set();
let paused = false;
let failures = 0;
let timer = 0;

/** The stream, while there is one: its path, and the watched paths that it has. */
let open = null;
let breaks = 0;
let arranging = 0;

const tell = listeners => [...listeners].forEach(listener => listener());
const still = () => document.hidden || paused;

function put(path, data) {
  const entry = watched.get(path);
  if (!entry) return;
  entry.data = data;
  entry.error = null;
  if (path === 'status') setNow(data.nowAt);
  tell(entry.users);
}

async function look(path) {
  const entry = watched.get(path);
  if (!entry || entry.busy) return;
  const status = watched.get('status')?.data;
  if (entry.grows && entry.data && open?.works && status?.events?.last === entry.data.last) return;
  entry.busy = new AbortController();
  try {
    const grown = entry.grows && entry.data;
    let data = await get(grown ? `${path}&since=${grown.last}` : path, entry.busy.signal);
    // Fewer events than before: the console was started anew, and counts from 1.
    const anew = grown && data.last < grown.last;
    if (anew) data = await get(path, entry.busy.signal);
    put(path, grown && !anew ? { ...data, events: [...data.events.reverse(), ...grown.events].slice(0, EVENTS) } : data);
  } catch (e) {
    if (e.name === 'AbortError') return;
    entry.error = e;
    tell(entry.users);
  } finally {
    entry.busy = null;
  }
  tell(onlookers);
}

/** Looks at everything that is on the screen. */
export const refresh = () => Promise.all([...watched.keys()].map(look));

async function round() {
  clearTimeout(timer);
  if (still()) return;
  await Promise.all([...watched.keys()].filter(path => !open?.works || !open.paths.has(path)).map(look));
  failures = [...watched.values()].some(entry => entry.error?.status === 0) ? failures + 1 : 0;
  tell(onlookers);
  clearTimeout(timer);
  timer = setTimeout(round, EVERY * 2 ** Math.min(failures, 2));
}

/** Opens the stream that suits what is watched, a moment after the last change of that. */
function arrange(delay = 300) {
  clearTimeout(arranging);
  arranging = setTimeout(async () => {
    const list = [...watched.keys()].find(path => path.startsWith('locks?'));
    const fields = { list: list?.slice('locks?'.length), waits: watched.has('waits') ? 'true' : null };
    const path = 'stream' + query(fields);
    if (open?.path === path && !still()) return;
    open?.abort.abort();
    open = null;
    if (still() || watched.size === 0) return;
    const own = open = { path, abort: new AbortController(), works: false, paths: new Set(['status', ...list ? [list] : [], ...fields.waits ? ['waits'] : []]) };
    await stream(path, own.abort.signal, (event, data) => {
      own.works = true;
      breaks = 0;
      if (event === 'status') put('status', data);
      else if (event === 'waits') put('waits', data);
      else if (event === 'list') put(list, data);
      else if (event === 'change' && watched.get(list)?.data) put(list, merged(watched.get(list).data, data));
    }).catch(() => {});
    if (open !== own) return;
    open = null;
    breaks++;
    round();
    arrange(breaks < 2 ? 1000 : LONGEST);
  }, delay);
}

function woken() {
  round();
  arrange(0);
}
document.addEventListener('visibilitychange', woken);
addEventListener('online', woken);

/** Pauses everything, or goes on. */
export function pause(whether = !paused) {
  paused = whether;
  stop(paused);
  tell(onlookers);
  woken();
}

/** The connection, whenever it changes. */
export function useConnection() {
  const [, again] = useReducer(n => n + 1, 0);
  useEffect(() => {
    onlookers.add(again);
    return () => onlookers.delete(again);
  }, []);
  return { paused, failures };
}

/**
 * The newest answer for a path.
 *
 * @param {?string} path null for none
 * @param {boolean} grows whether it is a list of events, of which only new ones are asked for
 * @returns {Answer}
 */
export function useLive(path, grows = false) {
  const [, again] = useReducer(n => n + 1, 0);
  useEffect(() => {
    if (path === null) return undefined;
    let entry = watched.get(path);
    if (!entry) watched.set(path, entry = { data: null, error: null, users: new Set(), busy: null, grows });
    entry.users.add(again);
    look(path);
    if (!timer) round();
    arrange();
    return () => {
      entry.users.delete(again);
      if (entry.users.size > 0) return;
      watched.delete(path);
      entry.busy?.abort();
      arrange();
    };
  }, [path]);
  return watched.get(path) ?? { data: null, error: null };
}

/**
 * An answer that does not change by itself: asked for once.
 *
 * @returns {Answer & { set: (answer: Promise<any>) => Promise<void> }} `set` takes another answer
 */
export function useOnce(path) {
  const [state, put] = useState({ data: null, error: null });
  const set = answer => answer.then(data => put({ data, error: null }), error => put(before => ({ data: before.data, error })));
  useEffect(() => { set(get(path)); }, [path]);
  return { ...state, set };
}
