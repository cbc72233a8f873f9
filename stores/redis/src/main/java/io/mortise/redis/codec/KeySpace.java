package io.mortise.redis.codec;

import io.mortise.LockName;
import io.mortise.spi.SessionId;
import java.util.List;
import java.util.Optional;

/**
 * Names of keys; the head of lock.lua says what they hold.
 *
 * @param guards keys that a script is called with besides its own; only in a cluster
 */
public record KeySpace(String prefix, List<String> guards) {
  public KeySpace(String prefix) {
    this(prefix, List.of());
  }

  public String lock(LockName name) {
    return prefix + "l:" + name.value();
  }

  public LockName nameOf(String lockKey) {
    return LockName.of(lockKey.substring(prefix.length() + 2));
  }

  /** A pattern of SCAN for the keys that begin so. */
  public static String pattern(String beginning) {
    return beginning.replaceAll("([\\\\*?\\[\\]])", "\\\\$1") + "*";
  }

  public String everyLock() {
    return everyLock("");
  }

  /** Of locks whose names begin so. */
  public String everyLock(String beginning) {
    return pattern(prefix + "l:" + beginning);
  }

  /** The waiters of the lock that has this record. */
  public String queueOf(String lockKey) {
    return prefix + "q:" + lockKey.substring(prefix.length() + 2);
  }

  /** A small text beside the locks. */
  public String fact(LockName name) {
    return prefix + "f:" + name.value();
  }

  public String session(SessionId session) {
    return prefix + "s:" + session.value();
  }

  /** What decides whether the session lives, with strict expiry. */
  public String beat(SessionId session) {
    return prefix + "b:" + session.value();
  }

  public String everyBeat() {
    return prefix + "b:*";
  }

  /** Of a session or its beat; empty if somebody else wrote the key. */
  public Optional<SessionId> sessionOf(String sessionKey) {
    try {
      return Optional.of(new SessionId(sessionKey.substring(prefix.length() + 2)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Says that sessions end by their beats, if they do. */
  public String mode() {
    return prefix + "mode";
  }

  public String notifications(SessionId session) {
    return prefix + "n:" + session.value();
  }

  public String inbox(SessionId session) {
    return prefix + "i:" + session.value();
  }
}
