import { h } from 'preact';
import { classes, el } from './dom.js';
import { useOnce } from './live.js';
import { link } from './route.js';

/** The stories of how locks break: those that this store can meet come first. Nothing is run from here. */

export function Hazards() {
  const { data, error } = useOnce('hazards');
  if (!data) return el.div({ class: 'page' }, el.h1('Hazards'), error && el.p({ class: 'calm' }, error.message, ' ', error.remedy));
  const known = data.here != null;
  const here = known ? data.stories.filter(story => story.concerns) : data.stories;
  const elsewhere = known ? data.stories.filter(story => !story.concerns) : [];
  return el.div({ class: 'page' },
    el.h1('Hazards'),
    known ? el.p('What can happen to locks in ', el.code(data.here), ', and what becomes of them.')
      : el.p({ class: 'calm' }, 'Which of these concern this store is not known until the doctor has looked.'),
    el.p(known ? el.a({ class: 'more', href: link('guarantees') }, 'All guarantees') : el.a({ class: 'more', href: link('doctor') }, 'Ask the doctor')),
    h(Stories, { stories: here, label: known ? 'Hazards of this store' : 'All hazards' }),
    elsewhere.length > 0 && [el.h2('Of other kinds of store'), h(Stories, { stories: elsewhere, label: 'Hazards of other kinds of store' })]);
}

const Stories = ({ stories, label }) => el.ul({ class: 'card stories', 'aria-label': label }, stories.map(story => el.li({ key: story.name },
  el.p(el.b(story.title), ' ', story.faults.length ? story.faults.map(fault => h(Fault, { key: fault.id, fault, here: story.concerns })) : el.span({ class: 'pill still' }, 'costs the store, breaks nothing')),
  el.p({ class: 'soft' }, el.b('A naive lock: '), story.naive),
  el.p({ class: 'soft' }, el.b('Mortise: '), story.mortise),
  el.p({ class: 'dim' }, 'Told by ', story.source, '. To see it: ', el.code({ class: 'wrap' }, 'mortise hazards run ' + story.name), ' (needs ', story.needs, ')'))));

/** With what the guarantee table says of it, where the story is about this store. */
const Fault = ({ fault: { title, answer, words }, here }) => [el.span({ class: classes('pill', here ? tone(answer) : 'still') }, title, here && ': ' + words), ' '];

const tone = answer => ['none', 'safe'].includes(answer) ? 'held' : answer === 'unnoticed' ? 'bad' : 'wait';
