/** Dark or light: as the system has it, until somebody chooses. */

const KEY = 'mortise.theme';
const system = matchMedia('(prefers-color-scheme: light)');
const set = () => { document.documentElement.dataset.theme = localStorage.getItem(KEY) ?? (system.matches ? 'light' : 'dark'); };

set();
system.addEventListener('change', set);

/** The other one. */
export function turn() {
  localStorage.setItem(KEY, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  set();
}
