package io.mortise.cli.view;

import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.event.LeaseEnd;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether another process can have held a lock that was lost by an eviction: after CLOSE
 * the store keeps it taken until the lease is closed, after BREAK it does not. Thread-safe.
 */
public final class LossInspector {
  private final LockClient client;
  private final String name;
  private final String token;
  private volatile @Nullable LeaseEnd end;

  /**
   * Creates an inspector for one hold.
   *
   * @param token empty if the hold has none, and cannot be distinguished from others
   */
  public LossInspector(LockClient client, String name, String token) {
    this.client = client;
    this.name = name;
    this.token = token;
  }

  /** Records that the hold's lease is lost. */
  public void lost(LeaseLostException loss) {
    end = loss.end();
  }

  /**
   * Whether no other process has held the lock since an eviction: the store still keeps it taken
   * for this hold, and ended holds do not return. To be called before the lease is closed. Blocks
   * for one round trip after an eviction; false if the store does not answer.
   */
  public boolean isStillShut() {
    if (end != LeaseEnd.EVICTED || token.isEmpty()) {
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
}
