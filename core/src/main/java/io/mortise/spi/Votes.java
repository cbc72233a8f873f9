package io.mortise.spi;

import io.mortise.spi.time.Ticker;
import java.util.OptionalLong;

/**
 * What a grant rests on where the session alone does not tell: in a store that is made of several
 * independent ones, the members that granted it. The session of such a store lives as long as a
 * majority renews it, but not every majority granted this lock: if A and B did and A has forgotten,
 * then B and C renew a session whose hold anybody can have again from A and C.
 *
 * <p>Thread-safe. Read by every {@link io.mortise.Lease#isValid()}, so it must be quick.
 */
public interface Votes {
  /**
   * The time, by {@link Ticker#SYSTEM} unless the store was given another, from which the TTL of
   * the session counts for this grant: when those renewals were sent, at the latest, without which
   * too few of the grant's members would vouch for it.
   *
   * @return empty once too few do, for good; the session is told of that by {@link
   *     SessionNotification.HoldEnded} as well
   */
  OptionalLong countedFrom();
}
