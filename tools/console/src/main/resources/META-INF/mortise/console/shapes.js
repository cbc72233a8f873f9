import { el } from './dom.js';

/** The shape of each state, so that colour is never all that tells them apart; and the icons. */

const bad = { fill: 'none', stroke: 'var(--bad-fill)', 'stroke-width': 1.5, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };
const box = (x, y) => el.rect({ x, y, width: 4.6, height: 4.6, rx: 1.2, fill: 'var(--share-fill)' });

const SHAPES = {
  held: () => el.circle({ cx: 7, cy: 7, r: 5, fill: 'var(--held-fill)' }),
  shared: () => [
    el.circle({ cx: 5, cy: 7, r: 4, fill: 'var(--share-fill)' }),
    el.circle({ cx: 9.4, cy: 7, r: 3.6, fill: 'none', stroke: 'var(--share-fill)', 'stroke-width': 1.5 })],
  permits: () => [
    box(1.5, 1.5), box(7.9, 1.5), box(1.5, 7.9),
    el.rect({ x: 8.6, y: 8.6, width: 3.3, height: 3.3, rx: 0.9, fill: 'none', stroke: 'var(--share-fill)', 'stroke-width': 1.4 })],
  shut: () => el.g({ fill: 'none', stroke: 'var(--still)', 'stroke-width': 1.6, 'stroke-linecap': 'round' },
    el.rect({ x: 2.2, y: 2.2, width: 9.6, height: 9.6, rx: 2.4 }), el.path({ d: 'M4.6 7h4.8' })),
  gone: () => el.g(bad,
    el.circle({ cx: 7, cy: 7, r: 4.8, 'stroke-dasharray': '2.4 2.2' }), el.path({ d: 'm5.2 5.2 3.6 3.6m0-3.6L5.2 8.8' })),
  cycle: () => el.path({ ...bad, d: 'M11.6 6A4.8 4.8 0 0 0 3 4.3M2.4 8a4.8 4.8 0 0 0 8.6 1.7M3 1.8v2.6h2.6M11 12.2V9.6H8.4' }),
  moving: () => el.g({ fill: 'none', stroke: 'var(--wait-fill)', 'stroke-width': 1.6, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' },
    el.path({ d: 'M2 7h9M8 3.8 11.2 7 8 10.2' })),
  free: () => el.circle({ cx: 7, cy: 7, r: 4.8, fill: 'none', stroke: 'var(--still)', 'stroke-width': 1.5 }),
};

const SAID = { held: 'held', shared: 'shared', permits: 'permits', shut: 'shut', gone: 'holder gone', cycle: 'held, in a cycle', moving: 'changing hands', free: 'free' };

/** @param {{ of: keyof typeof SAID }} props */
export const Shape = ({ of }) =>
  el.svg({ class: 'shape', viewBox: '0 0 14 14', role: 'img', 'aria-label': SAID[of] }, SHAPES[of]());

const ICONS = {
  overview: 'M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6M13.5 13.5v-11',
  locks: 'M4.6 7h6.8A1.6 1.6 0 0 1 13 8.6v3.8a1.6 1.6 0 0 1-1.6 1.6H4.6A1.6 1.6 0 0 1 3 12.4V8.6A1.6 1.6 0 0 1 4.6 7zM5 7V5.2a3 3 0 0 1 6 0V7',
  waits: 'M1.7 8a1.9 1.9 0 1 0 3.8 0 1.9 1.9 0 1 0-3.8 0M10.5 3.8a1.9 1.9 0 1 0 3.8 0 1.9 1.9 0 1 0-3.8 0M10.5 12.2a1.9 1.9 0 1 0 3.8 0 1.9 1.9 0 1 0-3.8 0M5.3 7.2l5.3-2.5M5.3 8.8l5.3 2.5',
  processes: 'M1.8 8.5h2.7l1.8-4.7 3 8.6 1.9-3.9h3',
  history: 'M2.2 8a5.8 5.8 0 1 0 11.6 0 5.8 5.8 0 1 0-11.6 0M8 4.6V8l2.3 1.6',
  doctor: 'M8 2.2v11.6M2.2 8h11.6',
  guarantees: 'M8 1.8 13 3.6v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.6v-4zM5.8 8l1.6 1.6 2.9-3.1',
  hazards: 'M3.5 14V2.4h8.6L10.4 5.6l1.7 3.2H3.5',
  store: 'M2.5 4c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2S11 1.8 8 1.8 2.5 2.8 2.5 4v8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4M2.5 8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2',
  search: 'M2.7 7a4.3 4.3 0 1 0 8.6 0 4.3 4.3 0 1 0-8.6 0M10.3 10.3l3.2 3.2',
  moon: 'M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z',
  warning: 'M8 2.2 14.4 13.4H1.6zM8 6.4v3.2M8 11.6v.1',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.9-.9',
  back: 'M9.8 3.2 5 8l4.8 4.8',
};

/** @param {{ of: keyof typeof ICONS }} props */
export const Icon = ({ of }) => el.svg({ class: 'i', viewBox: '0 0 16 16', 'aria-hidden': 'true' }, el.path({ d: ICONS[of] }));
