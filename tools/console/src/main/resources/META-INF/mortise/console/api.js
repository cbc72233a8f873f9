/**
 * Calls of the console's own server, by paths relative to the page: any base path works.
 *
 * The token comes in the fragment of the link that the terminal shows. It is moved to the storage
 * of this tab and taken out of the address at once. A tab that was opened from another one asks the
 * others: a channel reaches pages of this origin only.
 */

const KEY = 'mortise.token';
const channel = new BroadcastChannel(KEY);

const found = /[#&]token=([^&]+)/.exec(location.hash);
if (found) {
  sessionStorage.setItem(KEY, found[1]);
  history.replaceState(null, '', '#/');
}
channel.onmessage = ({ data }) => {
  const token = sessionStorage.getItem(KEY);
  if (data === null && token) channel.postMessage(token);
  else if (typeof data === 'string' && !token) sessionStorage.setItem(KEY, data);
};

/** Waits for the token of another tab, if this one has none; not for long. */
export async function findToken() {
  if (sessionStorage.getItem(KEY)) return;
  channel.postMessage(null);
  for (let i = 0; i < 8 && !sessionStorage.getItem(KEY); i++) await new Promise(next => setTimeout(next, 25));
}

/** An answer that is no success: what the server says of it, and its status; 0 without an answer. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.message);
    this.status = status;
    this.remedy = body.remedy;
    this.body = body;
  }
}

const SIGNED_OUT = { message: 'You are not signed in any more.', remedy: 'Load the page again to sign in.' };

export const NO_ANSWER = 'The console does not answer.';

/** What a request that got no answer, or half of one, is refused with. */
const unanswered = e => e.name === 'AbortError' || e instanceof ApiError ? e
  : new ApiError(0, { message: NO_ANSWER, remedy: 'Look whether it still runs.' });

/** @returns {Promise<Response>} whatever its status is */
export async function call(path, options = {}) {
  const token = sessionStorage.getItem(KEY);
  try {
    const response = await fetch('api/v1/' + path, {
      // The header keeps a browser from asking for a password by itself, and an application from coming back here after a login.
      ...options, redirect: 'manual', headers: { 'X-Requested-With': 'XMLHttpRequest', ...options.headers, ...token && { Authorization: 'Bearer ' + token } } });
    // An application that serves the console sends people who are not signed in elsewhere.
    if (response.type !== 'opaqueredirect') return response;
    throw new ApiError(401, SIGNED_OUT);
  } catch (e) {
    throw unanswered(e);
  }
}

async function answer(response) {
  if (response.ok) return response.json().catch(e => { throw unanswered(e); });
  const body = await response.json().catch(() => ({}));
  const unknown = response.status === 401 ? SIGNED_OUT : { message: 'Status ' + response.status + '.' };
  throw new ApiError(response.status, body.error && body.message ? body : unknown);
}

/** What is there. */
export const get = async (path, signal) => answer(await call(path, { signal }));

/**
 * Asks for a change. An application that serves the console may want headers of its own, such as a
 * CSRF token: where it refuses one form of them before the console is asked, the next one is tried.
 */
export async function post(path, body) {
  const forms = sessionStorage.getItem(KEY) ? [] : (await get('write-headers')).forms;
  const write = headers => call(path, { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }).then(answer);
  for (const [i, headers] of forms.entries()) {
    try {
      return await write(headers);
    } catch (e) {
      // The console itself says what to do, if only that there is nothing.
      if (i === forms.length - 1 || ![401, 403].includes(e.status) || (e.body.error && 'remedy' in e.body)) throw e;
    }
  }
  return write({});
}

/** The path of a lock, or of something of it. The name is in the query: servers let no escaped slash through elsewhere. */
export const lockPath = (name, what = '', fields = {}) => 'lock' + (what && '/' + what) + query({ name, ...fields });

/** `a=1&b=2`, without empty ones. */
export const query = fields => {
  const given = Object.entries(fields).filter(([, value]) => value !== '' && value != null);
  return given.length ? '?' + new URLSearchParams(given) : '';
};
