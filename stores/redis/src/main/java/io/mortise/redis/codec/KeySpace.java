package io.mortise.redis.codec;

import io.mortise.LockName;
import io.mortise.spi.SessionId;
import java.util.List;
import java.util.Optional;

/**
 * Names of keys; the head of lock.lua says what they hold.
 *
 * @param guards additional keys for every script call; only in a cluster
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

  /** A pattern of SCAN for the keys that begin with this text. */
  public static String pattern(String beginning) {
    return beginning.replaceAll("([\\\\*?\\[\\]])", "\\\\$1") + "*";
  }

  public String everyLock() {
    return everyLock("");
  }

  /** Pattern of the locks whose names begin with this text. */
  public String everyLock(String beginning) {
    return pattern(prefix + "l:" + beginning);
  }

  /** The queue of waiters of the lock with this record. */
  public String queueOf(String lockKey) {
    return prefix + "q:" + lockKey.substring(prefix.length() + 2);
  }

  /** The key of a fact: a small text beside the locks. */
  public String fact(LockName name) {
    return prefix + "f:" + name.value();
  }

  public String session(SessionId session) {
    return prefix + "s:" + session.value();
  }

  /** The key that decides, with strict expiry, whether the session lives. */
  public String beat(SessionId session) {
    return prefix + "b:" + session.value();
  }

  public String everyBeat() {
    return prefix + "b:*";
  }

  /** The session that a session or beat key belongs to; empty for a foreign key. */
  public Optional<SessionId> sessionOf(String sessionKey) {
    try {
      return Optional.of(new SessionId(sessionKey.substring(prefix.length() + 2)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The key that marks a namespace with strict expiry. */
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
