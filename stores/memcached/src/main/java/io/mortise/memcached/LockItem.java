package io.mortise.memcached;

import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.SessionId;

/**
 * The text of the item of a lock: the attempt that has it, and its client for people.
 *
 * @param attempt that of nobody if somebody else wrote the item
 */
record LockItem(AttemptId attempt, ClientLabel client) {
  private static final AttemptId NOBODY =
      new AttemptId(new SessionId("A".repeat(SessionId.LENGTH)), 1);

  String encoded() {
    return attempt.encoded() + " " + client.encoded();
  }

  static LockItem parse(String text) {
    AttemptId owner = owner(text);
    if (!owner.equals(NOBODY)) {
      try {
        return new LockItem(owner, ClientLabel.parse(text.substring(AttemptId.LENGTH + 1)));
      } catch (IllegalArgumentException e) {
        // Not one of ours.
      }
    }
    return new LockItem(NOBODY, new ClientLabel("-", 0, text));
  }

  /** The attempt alone, which costs little. */
  static AttemptId owner(String text) {
    if (text.length() > AttemptId.LENGTH && text.charAt(AttemptId.LENGTH) == ' ') {
      try {
        return AttemptId.parse(text.substring(0, AttemptId.LENGTH));
      } catch (IllegalArgumentException e) {
        // Not one of ours.
      }
    }
    return NOBODY;
  }
}
