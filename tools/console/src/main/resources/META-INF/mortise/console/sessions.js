/** The longest that each session was seen to have left: about its time to live, where the server does not say. */
const longest = new Map();

/**
 * @param {?number} known as the server says
 * @returns {number} the time to live of a session, in milliseconds
 */
export function ttlOf(session, left, known) {
  if (known) return known;
  const most = Math.max(longest.get(session) ?? 0, Math.ceil(left / 1000) * 1000);
  longest.set(session, most);
  return most;
}
