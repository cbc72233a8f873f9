import { useState } from 'preact/hooks';
import { h } from 'preact';
import { get } from './api.js';
import { Age } from './clock.js';
import { classes, el } from './dom.js';
import { useOnce } from './live.js';
import { link } from './route.js';
import { foreign } from './text.js';

/** What the settings of the store's server take away, and what would give it back. */

const WORDS = { weak: 'WEAK', note: 'note', unknown: '?', fine: 'ok' };
const ORDER = ['weak', 'unknown', 'note', 'fine'];

export function Doctor() {
  const { data, error, set } = useOnce('doctor');
  const [busy, setBusy] = useState(false);
  const again = async () => {
    setBusy(true);
    await set(get('doctor?fresh=true'));
    setBusy(false);
  };
  const findings = data && ORDER.flatMap(grade => data.findings.filter(finding => finding.grade === grade));
  return el.div({ class: 'page' },
    el.div({ class: 'bar-1 bare' }, el.h1('Doctor'), data && el.span({ class: 'dim' }, 'looked ', h(Age, { since: data.asOfAt }), ' ago'),
      el.button({ class: 'btn end', disabled: busy, onClick: again }, busy ? 'It looks …' : 'Look again')),
    error && el.p({ class: 'calm' }, error.status === 404 ? 'This console was started without the doctor. Ask it in a terminal: mortise doctor' : [error.message, ' ', error.remedy]),
    !data && !error && el.p({ class: 'calm' }, 'It looks …'),
    data && [
      el.p(data.mode ? ['The store is in mode ', el.a({ class: 'link', href: link('guarantees') }, el.code(data.mode)), '. '] : 'The mode of the store is not known. ',
        data.healthy ? 'Nothing takes away a guarantee that it can give.' : ''),
      el.ul({ class: 'card findings' }, findings.map(finding => el.li({ key: finding.id, class: finding.grade },
        el.span({ class: classes('pill', { weak: 'bad', unknown: 'wait', note: 'still', fine: 'held' }[finding.grade]) }, WORDS[finding.grade]),
        el.div(el.p(el.b(foreign(finding.id)), ' ', el.code({ class: 'wrap' }, foreign(finding.value))),
          finding.meaning && el.p({ class: 'soft' }, foreign(finding.meaning)),
          finding.remedy && el.p({ class: 'soft' }, el.b('For more: '), foreign(finding.remedy)),
          finding.decides?.length > 0 && el.p({ class: 'dim' }, 'Decides: ', finding.decides.join(', ')))))) ]);
}
