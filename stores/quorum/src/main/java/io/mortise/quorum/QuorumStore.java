package io.mortise.quorum;

import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import java.util.List;

/**
 * Opens stores made of several independent ones, the members: a majority of them grants a lock
 * (Redlock). A lock survives the loss of a minority of members, data included.
 *
 * <p>Members must be independent: each is a server of its own without replication to another. Every
 * client must name the same members. If all members mint tokens (Redis, SQL), a hold has a token
 * that a majority has minted: unique, and greater than those of all earlier holds.
 *
 * <p>There is no queue: waiters retry at random intervals, without fairness. There are no permits:
 * with three members and two permits three could hold.
 */
public final class QuorumStore {
  /** Fewer survive no loss. */
  static final int FEWEST = 3;

  static final int MOST = 15;

  private QuorumStore() {}

  /**
   * Connects to {@code quorum:URL,URL,URL[,…][?parameters]}, three to fifteen members. Of the
   * parameters {@code member-timeout} and {@code quarantine} are those of {@link QuorumOptions};
   * all others are given to every member. A minority of members may be unreachable; they are
   * retried until they answer. Blocks.
   *
   * @throws IllegalArgumentException if a URL, or a parameter, is wrong or unknown
   * @throws io.mortise.StoreUnavailableException if a majority of members cannot be reached
   * @throws io.mortise.StoreUnfitException if a member must not be used as it is
   */
  public static LockStore open(String url) {
    return QuorumTarget.parse(StoreUrl.parse(url)).connect(Ticker.SYSTEM);
  }

  /**
   * Makes a quorum of open stores; the caller closes them, after the quorum.
   *
   * @throws IllegalArgumentException unless there are three to fifteen
   */
  public static LockStore over(List<LockStore> members, QuorumOptions options) {
    return QuorumLockStore.over(members, options, QuorumRules.ALL, Ticker.SYSTEM);
  }
}
