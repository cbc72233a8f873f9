import { classes, el } from './dom.js';
import { useOnce } from './live.js';
import { go, link } from './route.js';

/** What becomes of locks when something goes wrong: here, and in another kind of store. */

export function Guarantees({ route }) {
  const { data, error } = useOnce('guarantees');
  if (!data) return el.div({ class: 'page' }, el.h1('Guarantees'), error && el.p({ class: 'calm' }, error.message, ' ', error.remedy));
  const mode = id => data.modes.find(each => each.mode === id);
  const here = mode(data.here) ?? null;
  const other = mode(route.query.with) ?? null;
  const words = new Map(data.answers.map((answer, i) => [answer.id, { ...answer, rank: i }]));
  const cell = (column, fault) => column?.cells.find(each => each.fault === fault);
  const columns = [here, other].filter(Boolean);
  return el.div({ class: 'page' },
    el.div({ class: 'bar-1 bare' }, el.h1('Guarantees'),
      el.select({ class: 'sort', 'aria-label': 'Compare with', value: other?.mode ?? '', onChange: e => go(link('guarantees', null, { with: e.target.value }), true) },
        el.option({ value: '' }, here ? 'compare with …' : 'choose a kind of store …'), data.modes.map(each => el.option({ key: each.mode, value: each.mode }, each.mode)))),
    here ? el.p('This installation: ', el.code(here.mode), ', ', here.title) : el.p({ class: 'calm' }, 'The mode of this installation is not known yet: ', el.a({ class: 'link', href: link('doctor') }, 'ask the doctor'), '.'),
    columns.length > 0 && el.div({ class: 'card wide', tabindex: 0, role: 'region', 'aria-label': 'Table of guarantees' }, el.table({ class: classes('guarantees', columns.length > 1 && 'two') },
      el.thead(el.tr(el.th({ scope: 'col' }, 'Fault'), columns.map(column => el.th({ scope: 'col', key: column.mode }, column === here ? 'Here' : column.mode)))),
      el.tbody(data.faults.map(fault => el.tr({ key: fault.id },
        el.th({ scope: 'row' }, fault.title, el.small(fault.meaning)),
        columns.map(column => {
          const it = cell(column, fault.id), word = words.get(it?.answer);
          return el.td({ key: column.mode }, el.span({ class: 'pill ' + tone(word, data.answers.length) }, word?.words ?? '–'),
            columns.length > 1 && column !== here && it?.answer !== cell(here, fault.id)?.answer && el.span({ class: 'dim' }, ' differs'),
            it?.because && el.details(el.summary('why'), el.p(it.because), it.tests?.length > 0 && el.ul(it.tests.map(test => el.li({ key: test }, el.code({ class: 'wrap' }, test))))));
        })))))),
    el.dl({ class: 'answers' }, data.answers.map(answer => [el.dt(answer.words), el.dd(answer.meaning)])));
}

const tone = (word, most) => word == null ? 'still' : ['none', 'safe'].includes(word.id) ? 'held' : word.rank >= most - 1 ? 'bad' : 'wait';
