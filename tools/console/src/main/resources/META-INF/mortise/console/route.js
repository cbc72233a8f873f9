import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * Where the page is: kept in the fragment, so that lock names stay out of the logs of proxies and
 * any base path works.
 *
 * @typedef {{ page: string, name: ?string, query: Object<string, string> }} Route
 */

/** @returns {Route} */
export function parse(fragment) {
  const [path, query] = fragment.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [page, ...name] = path.split('/');
  return { page: page || 'overview', name: name.length ? decode(name.join('/')) : null,
    query: Object.fromEntries(new URLSearchParams(query ?? '')) };
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** The link to a page. Empty parts of the query are left out. */
export function link(page, name, query = {}) {
  const parts = Object.entries(query).filter(([, value]) => value !== '' && value != null);
  const path = page === 'overview' ? '' : page + (name == null ? '' : '/' + encodeURIComponent(name));
  return '#/' + path + (parts.length ? '?' + new URLSearchParams(parts) : '');
}

/** Goes there; with `instead`, the step back skips where the page was. */
export function go(to, instead = false) {
  if (instead) {
    history.replaceState(null, '', to);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = to;
}

/** Where the page is, now and whenever that changes. */
export function useRoute() {
  const [route, set] = useState(() => parse(location.hash));
  useLayoutEffect(() => {
    const moved = () => set(parse(location.hash));
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return route;
}
