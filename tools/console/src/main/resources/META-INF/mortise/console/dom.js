import { h } from 'preact';

/**
 * Elements by their names: `el.p('text')`, `el.a({ href: '#/' }, 'text')`, SVG as well. Text becomes
 * text nodes, so names and labels of others are never markup.
 *
 * @type {Object<string, (...content: any[]) => import('preact').VNode>}
 */
export const el = new Proxy({}, {
  get: (_, tag) => (first, ...rest) =>
    first?.constructor === Object ? h(tag, first, ...rest) : h(tag, null, first, ...rest),
});

/** Class names, without those that are false. */
export const classes = (...names) => names.filter(Boolean).join(' ');
