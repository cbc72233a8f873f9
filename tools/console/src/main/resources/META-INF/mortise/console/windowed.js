import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { el } from './dom.js';

/** Long tables: only the rows in sight and some beside them are in the document. */

const ROW = 47;
const HEAD = 30;
const SPARE = 20;

/**
 * @returns what scrolls, which rows to draw (`from` to before `until`), which are seen, and a way to
 *     bring a row into sight
 */
export function useWindow() {
  const scroll = useRef(null);
  const [view, set] = useState({ top: 0, height: 900 });
  const see = () => scroll.current && set({ top: scroll.current.scrollTop, height: scroll.current.clientHeight });
  useLayoutEffect(() => {
    const watch = new ResizeObserver(see);
    watch.observe(scroll.current);
    return () => watch.disconnect();
  }, []);
  const first = Math.floor(view.top / ROW);
  const seen = Math.max(1, Math.floor((view.height - HEAD) / ROW));
  return {
    scroll, see, seen, first,
    from: Math.max(0, first - SPARE),
    until: first + Math.min(200, seen) + SPARE,
    toTop: () => { scroll.current.scrollTop = 0; },
    bring: i => {
      const box = scroll.current, top = i * ROW;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + ROW + HEAD > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW + HEAD - box.clientHeight;
    },
  };
}

/** The room of rows that are not drawn. */
export const gap = (key, rows, columns) => rows > 0 ? el.tr({ key, class: 'gap', 'aria-hidden': 'true' },
  el.td({ colSpan: columns, style: { height: rows * ROW + 'px' } })) : null;

/** A row that has not come yet. */
export const coming = (key, columns) => el.tr({ key, class: 'coming', 'aria-hidden': 'true' }, el.td({ colSpan: columns }, el.div('…')));

/** Moves the choice in a list with keys. */
export function moves(list, total, at, choose) {
  const step = by => {
    const to = Math.max(0, Math.min(total - 1, at < 0 ? 0 : at + by));
    if (choose(to)) list.bring(to);
  };
  const page = Math.max(1, list.seen - 1);
  return { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
    PageDown: () => step(page), PageUp: () => step(-page), Home: () => step(-at),
    Enter: () => document.getElementById('detail')?.focus() };
}
