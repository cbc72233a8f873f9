package io.mortise.cli;

import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;

/**
 * Finds out whether another can have had a lock that was lost by an eviction: by CLOSE the store
 * keeps it shut until the lease is closed, by BREAK it does not. Thread-safe.
 */
final class LossInspector {
  /** Why a lease is lost, in the words of its exception, after an operator's eviction. */
  private static final String EVICTED = "an operator evicted it";

  private final LockClient client;
  private final String name;
  private final String token;
  private volatile String reason = "";

  /**
   * For one hold.
   *
   * @param token empty if the hold has none, and cannot be told from others
   */
  LossInspector(LockClient client, String name, String token) {
    this.client = client;
    this.name = name;
    this.token = token;
  }

  /** The hold's lease is lost. */
  void lost(LeaseLostException loss) {
    reason = reason(loss);
  }

  /**
   * Whether nobody else has had the lock since an eviction: the store still keeps it shut for this
   * hold, and a hold that has ended does not come back. To be asked before the lease is closed.
   * Blocks for one round trip after an eviction; false if the store does not answer.
   */
  boolean isStillShut() {
    if (!reason.equals(EVICTED) || token.isEmpty()) {
      return false;
    }
    try {
      return client.admin().find(name).stream()
          .flatMap(lock -> lock.holders().stream())
          .anyMatch(holder -> Long.toString(holder.token()).equals(token));
    } catch (LockException e) {
      return false;
    }
  }

  /** The part of the message that says why; empty if there is none. */
  static String reason(LeaseLostException loss) {
    String message = String.valueOf(loss.getMessage());
    int from = message.indexOf(": ", Math.max(0, message.indexOf("' was lost")));
    int to = message.indexOf(" (store=");
    return from < 0 || to < from ? "" : message.substring(from + 2, to);
  }
}
