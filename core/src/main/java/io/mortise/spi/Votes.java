package io.mortise.spi;

import io.mortise.spi.time.Ticker;
import java.util.OptionalLong;

/**
 * The members that granted a lock, in a store made of several independent ones. There the session
 * alone does not prove a hold: it lives as long as a majority renews it, but not every majority
 * granted this lock. If A and B granted it and A has forgotten, then B and C renew the session,
 * while A and C can grant the lock to another.
 *
 * <p>Thread-safe. Read by every {@link io.mortise.Lease#isValid()}, so it must be quick.
 */
public interface Votes {
  /**
   * The start of the session's TTL for this grant, on {@link Ticker#SYSTEM} unless the store was
   * given another ticker. It is the latest instant at or after which renewals were sent to enough
   * of the grant's members.
   *
   * @return empty once too few confirm it, for good; the session is also notified of that by {@link
   *     SessionNotification.HoldEnded}
   */
  OptionalLong countedFrom();
}
