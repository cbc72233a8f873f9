import { ApiError, call } from './api.js';

/**
 * Reads a stream of the server, message by message. By `fetch`, since an `EventSource` cannot send
 * the token.
 *
 * @param {string} path
 * @param {AbortSignal} signal ends it
 * @param {(event: string, data: any) => void} tell
 * @returns {Promise<void>} when it ends
 * @throws {Error} if it is refused or breaks
 */
export async function stream(path, signal, tell) {
  const response = await call(path, { signal, headers: { Accept: 'text/event-stream' } });
  if (!response.ok) throw new ApiError(response.status, { message: 'No stream.' });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const messages = (rest + value).split('\n\n');
    rest = messages.pop();
    for (const message of messages) {
      const lines = message.split('\n');
      const field = name => lines.filter(line => line.startsWith(name + ':')).map(line => line.slice(name.length + 1).trimStart()).join('\n');
      const data = field('data');
      if (data) tell(field('event'), JSON.parse(data));
    }
  }
}

/** A list after a change of it: the order is whole, of the lines only new and changed ones are there. */
export function merged(list, change) {
  const lines = new Map([...list.locks, ...change.locks].map(line => [line.name, line]));
  const { order, ...rest } = change;
  return { ...list, ...rest, locks: order.map(name => lines.get(name)).filter(Boolean) };
}
