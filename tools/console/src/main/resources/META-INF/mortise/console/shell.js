import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Alarm } from './alarm.js';
import { useSeconds } from './clock.js';
import { classes, el } from './dom.js';
import { Doctor } from './doctor.js';
import { Guarantees } from './guarantees.js';
import { Hazards } from './hazards.js';
import { History } from './history.js';
import { Jump } from './jump.js';
import { KeyHelp, useKeys } from './keys.js';
import { pause, useConnection, useLive } from './live.js';
import { Locks } from './locks.js';
import { Overview } from './overview.js';
import { Processes } from './processes.js';
import { go, link, useRoute } from './route.js';
import { Icon } from './shapes.js';
import { useStatus } from './status.js';
import { clock, count, foreign, span } from './text.js';
import { turn } from './theme.js';
import { Waits } from './waits.js';

/** What is around each page: the store, the navigation, the alarm, what looking costs. */

const PAGES = { overview: Overview, locks: Locks, lock: Locks, waits: Waits, processes: Processes, process: Processes,
  history: History, doctor: Doctor, guarantees: Guarantees, hazards: Hazards };
const NAVIGATION = ['overview', 'locks', 'waits', 'processes', 'history', null, 'doctor', 'guarantees', 'hazards'];
const WITHIN = { lock: 'locks', process: 'processes' };
const title = page => page[0].toUpperCase() + page.slice(1);

export function Shell() {
  const route = useRoute();
  const status = useStatus();
  const { error } = useLive('status');
  const connection = useConnection();
  const [help, setHelp] = useState(false);
  const page = PAGES[route.page] ? route.page : 'overview';
  const at = WITHIN[page] ?? page;
  const outage = status?.outage != null || error?.status === 0;
  useEffect(() => { document.title = (route.name ? foreign(route.name) + ' · ' : '') + title(at) + ' · Mortise'; }, [route]);
  useEffect(() => { document.documentElement.classList.toggle('outage', outage); }, [outage]);
  useKeys({ '?': () => setHelp(true), p: () => pause(), t: turn,
    ...Object.fromEntries(NAVIGATION.filter(Boolean).map((to, i) => [i + 1, () => go(link(to))])) });
  if ([401, 403].includes(error?.status)) return h(Refused, { error });
  return [
    el.a({ class: 'skip', href: '#main', onClick: e => { e.preventDefault(); document.getElementById('main').focus(); } }, 'Skip to the page'),
    h(Top, { status, connection }),
    h(Navigation, { at, status }),
    el.main({ id: 'main', tabindex: -1 },
      el.div({ class: 'bars' }, h(Outage, { status, error }), h(Alarm, { status })),
      h(PAGES[page], { route: { ...route, page }, status })),
    help && h(KeyHelp, { onClose: () => setHelp(false) })];
}

const Refused = ({ error }) => el.main({ class: 'refused' }, el.div(h(Mark), el.h1(error.message), el.p(error.remedy)));

const Mark = () => el.svg({ viewBox: '0 0 24 24', 'aria-hidden': 'true' },
  el.rect({ x: 1.5, y: 1.5, width: 21, height: 21, rx: 5.5, fill: 'var(--ink)' }),
  el.path({ d: 'M6.5 17V7.5h3.2v4.1h4.6V7.5h3.2V17h-3.2v-2.6H9.7V17z', fill: 'var(--panel)' }));

function Top({ status, connection: { paused, failures } }) {
  const allowed = status?.allowed ?? [];
  const away = status?.outage != null;
  const word = paused ? 'Paused' : failures ? 'No answer' : away ? 'Store away' : 'Live';
  return el.header({ class: 'top' },
    el.a({ class: 'brand', href: link('overview'), 'aria-label': 'Mortise, overview' }, h(Mark), el.span('Mortise')),
    status && el.div({ class: 'store', title: 'The store. Its password is never sent here.' }, h(Icon, { of: 'store' }), el.span({ class: 'mono' }, foreign(status.store), status.namespace && el.small(' · ', foreign(status.namespace)))),
    h(Jump),
    el.button({ class: classes('live', paused && 'paused', (failures > 0 || away) && 'failing'), title: 'Pause and go on (p)', 'aria-label': word + (paused ? ', go on' : ', pause'), onClick: () => pause() }, el.i(), el.span(word)),
    status && el.span({ class: 'pill still mode', title: 'Set by --allow, in Java by ConsoleBuilder.allow, in Spring Boot by mortise.console.allow.' },
      allowed.length ? 'May ' + allowed.join(', ') : 'Read-only'),
    el.button({ class: 'icon', 'aria-label': 'Dark or light', title: 'Dark or light (t)', onClick: turn }, h(Icon, { of: 'moon' })));
}

function Navigation({ at, status }) {
  const counts = status?.counts;
  const numbers = counts && { locks: [counts.locks], waits: [counts.cycles || counts.waited, counts.cycles ? 'bad' : counts.waited ? 'wait' : ''], processes: [counts.sessions] };
  return el.nav({ 'aria-label': 'Pages' },
    NAVIGATION.map(page => page === null ? el.h2({ key: 'h' }, 'This installation') : el.a({ key: page, href: link(page), 'aria-current': page === at ? 'page' : null, 'aria-label': title(page) },
      h(Icon, { of: page }), el.span(title(page)), numbers?.[page]?.[0] ? el.span({ class: 'n ' + (numbers[page][1] ?? '') }, count(numbers[page][0])) : null)),
    status && h(Cost, { status }));
}

/** What looking costs the store, and when all of it was seen last. */
function Cost({ status: { budget, survey, nowAt, counts } }) {
  const percent = part => +(part * 100).toPrecision(2) + '\u00a0%';
  return el.div({ class: 'cost' }, 'Looking costs the store',
    el.div({ class: 'bar' }, el.i({ style: { width: Math.min(100, budget.used / budget.share * 100) + '%' } })),
    el.b(percent(budget.used)), ' of its time, limit ', percent(budget.share), el.br(),
    budget.putOffMillis > 5000 && [`Its answers take long: to keep the limit, the next look is in ${span(budget.putOffMillis)}`, el.br()],
    survey.asOfAt == null ? 'The first look is under way' : `${survey.complete ? 'All ' : ''}${count(counts.locks)} seen ${span(Math.max(0, Math.floor((nowAt - survey.asOfAt) / 1000) * 1000))} ago`);
}

function Outage({ status, error }) {
  useSeconds();
  if (error?.status === 0) return el.div({ class: 'alarm still', role: 'status' }, h(Icon, { of: 'warning' }), el.span(el.b(error.message), ' ', error.remedy));
  if (!status?.outage) return null;
  const seen = status.survey.asOfAt;
  return el.div({ class: 'alarm still', role: 'status' }, h(Icon, { of: 'warning' }),
    el.span(el.b(seen ? `As of ${clock(seen)}` : 'Nothing was seen yet'), ': the store does not answer since ', clock(status.outage.sinceAt), '. ', foreign(status.outage.message)));
}
