import { useRef } from 'preact/hooks';
import { query } from './api.js';
import { useLive } from './live.js';

/** Rows of a list that the server sorts, filters and cuts into pages: only those in sight are kept fresh. */

const PAGE = 200;
/** A browser cannot make an element of any height. */
export const MOST = 200000;

/**
 * @param {string} what `locks`
 * @param {Object<string, string>} filter
 * @param {number} from first row in sight
 * @param {number} to the one after the last
 * @returns {{ answer: ?any, error: ?Error, row: (i: number) => ?any }} the newest answer, which has
 *     totals, and a row; null while it has not come
 */
export function useRows(what, filter, from, to) {
  const ref = useRef(null);
  const key = query(filter);
  if (ref.current?.key !== key) ref.current = { key, pages: [], before: ref.current?.pages[0] };
  const list = ref.current;
  const path = k => what + query({ ...filter, limit: PAGE, cursor: k * PAGE || '' });
  const first = Math.floor(from / PAGE), last = Math.floor(Math.max(from, to - 1) / PAGE);
  const one = useLive(path(first));
  const two = useLive(last > first ? path(last) : null);
  if (one.data) list.pages[first] = one.data;
  if (two.data) list.pages[last] = two.data;

  const answer = one.data ?? list.pages[first] ?? list.pages[0] ?? list.before ?? null;
  return {
    answer, error: one.error,
    row: i => (list.pages[Math.floor(i / PAGE)] ?? (i < PAGE ? list.before : null))?.[what][i % PAGE] ?? null,
  };
}
