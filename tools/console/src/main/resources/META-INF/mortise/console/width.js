import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** How wide an element is, as it changes. */
export function useWidth(first) {
  const ref = useRef(null);
  const [width, set] = useState(first);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => set(Math.max(220, Math.round(entry.contentRect.width))));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

/** Whether the page is as narrow as a phone: the list, then the detail. */
export function useNarrow() {
  const media = matchMedia('(max-width: 859px)');
  const [narrow, set] = useState(media.matches);
  useLayoutEffect(() => {
    const changed = e => set(e.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return narrow;
}
