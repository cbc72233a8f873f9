package io.mortise.redis;

import io.mortise.spi.LockName;
import io.mortise.spi.SessionId;

/** Names of keys; the head of lock.lua says what they hold. */
record KeySpace(String prefix) {
  String lock(LockName name) {
    return prefix + "l:" + name.value();
  }

  LockName nameOf(String lockKey) {
    return LockName.of(lockKey.substring(prefix.length() + 2));
  }

  String everyLock() {
    return prefix + "l:*";
  }

  String session(SessionId session) {
    return prefix + "s:" + session.value();
  }

  String news(SessionId session) {
    return prefix + "n:" + session.value();
  }

  String inbox(SessionId session) {
    return prefix + "i:" + session.value();
  }
}
