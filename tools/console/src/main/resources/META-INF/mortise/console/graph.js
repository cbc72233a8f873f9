/**
 * A layered layout: arrows go to the right, from those who wait to the one whom all wait for.
 *
 * @typedef {{ id: string, layer: number, row: number }} Placed
 */

/**
 * @param {string[]} ids
 * @param {{ from: string, to: string }[]} edges
 * @returns {{ places: Map<string, Placed>, layers: number, rows: number }}
 */
export function layout(ids, edges) {
  const out = new Map(ids.map(id => [id, []]));
  for (const { from, to } of edges) if (!out.get(from).includes(to)) out.get(from).push(to);
  const forward = withoutCycles(ids, out);
  const layer = longestPaths(ids, forward);
  const layers = [];
  for (const id of ids) (layers[layer.get(id)] ??= []).push(id);
  order(layers, forward);
  const rows = Math.max(...layers.map(list => list.length));
  const places = new Map();
  layers.forEach((list, at) => list.forEach((id, i) => places.set(id, { id, layer: at, row: i + (rows - list.length) / 2 })));
  return { places, layers: layers.length, rows };
}

/** Leaves out the edges that lead back to where the walk came from. */
function withoutCycles(ids, out) {
  const state = new Map(), forward = new Map(ids.map(id => [id, []]));
  const walk = id => {
    state.set(id, 'open');
    for (const to of out.get(id)) {
      if (state.get(to) === 'open') continue;
      forward.get(id).push(to);
      if (!state.has(to)) walk(to);
    }
    state.set(id, 'done');
  };
  const wanted = new Set([...out.values()].flat());
  ids.filter(id => !wanted.has(id)).concat(ids).forEach(id => state.has(id) || walk(id));
  return forward;
}

/** The layer of each: the roots are in the last, all others just before what they wait for. */
function longestPaths(ids, forward) {
  const height = new Map();
  const find = id => {
    if (!height.has(id)) height.set(id, Math.max(-1, ...forward.get(id).map(find)) + 1);
    return height.get(id);
  };
  const most = Math.max(...ids.map(find));
  return new Map(ids.map(id => [id, most - height.get(id)]));
}

/** Fewer crossings: each layer by the middle of its neighbours, back and forth. */
function order(layers, forward) {
  const back = new Map([...forward.keys()].map(id => [id, []]));
  for (const [from, list] of forward) for (const to of list) back.get(to).push(from);
  for (let sweep = 0; sweep < 3; sweep++) {
    for (let i = layers.length - 2; i >= 0; i--) sort(layers, i, forward);
    for (let i = 1; i < layers.length; i++) sort(layers, i, back);
  }
}

function sort(layers, i, neighbours) {
  const place = new Map(layers.flatMap(list => list.map((id, at) => [id, at / list.length])));
  const middle = id => {
    const list = neighbours.get(id);
    return list.length ? list.reduce((sum, to) => sum + place.get(to), 0) / list.length : place.get(id);
  };
  const keys = new Map(layers[i].map(id => [id, middle(id)]));
  layers[i].sort((a, b) => keys.get(a) - keys.get(b));
}
