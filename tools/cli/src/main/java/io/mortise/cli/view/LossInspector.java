package io.mortise.cli.view;

import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.event.LeaseEnd;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether another can have had a lock that was lost by an eviction: by CLOSE the store
 * keeps it shut until the lease is closed, by BREAK it does not. Thread-safe.
 */
public final class LossInspector {
  private final LockClient client;
  private final String name;
  private final String token;
  private volatile @Nullable LeaseEnd end;

  /**
   * For one hold.
   *
   * @param token empty if the hold has none, and cannot be told from others
   */
  public LossInspector(LockClient client, String name, String token) {
    this.client = client;
    this.name = name;
    this.token = token;
  }

  /** The hold's lease is lost. */
  public void lost(LeaseLostException loss) {
    end = loss.end();
  }

  /**
   * Whether nobody else has had the lock since an eviction: the store still keeps it shut for this
   * hold, and a hold that has ended does not come back. To be asked before the lease is closed.
   * Blocks for one round trip after an eviction; false if the store does not answer.
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
