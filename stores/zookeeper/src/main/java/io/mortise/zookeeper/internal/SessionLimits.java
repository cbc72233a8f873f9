package io.mortise.zookeeper.internal;

import io.mortise.spi.StoreReport;
import io.mortise.spi.time.DurationText;
import java.time.Duration;

/**
 * The limits of ZooKeeper session lengths, and their consequences for a TTL.
 *
 * @param tick at least a tick of the servers
 * @param longest the longest session that the servers grant; for a client that was handed in, its
 *     own
 * @param isOwn whether sessions are our own, so that they can be longer than the TTL
 */
public record SessionLimits(Duration tick, Duration longest, boolean isOwn) {
  /**
   * Refuses a TTL for which there is no session.
   *
   * @throws IllegalArgumentException with the numbers, and advice
   */
  public void check(Duration ttl, String display) {
    if (longest.compareTo(ttl) >= 0) {
      return;
    }
    throw new IllegalArgumentException(
        "A session TTL of %s is longer than sessions of store '%s' can be, which is %s. %s, or give a TTL of at most %s."
            .formatted(
                DurationText.formatExact(ttl),
                display,
                DurationText.formatExact(longest),
                isOwn
                    ? "Raise maxSessionTimeout in the servers' zoo.cfg"
                    : "Hand in a client with a longer session timeout",
                DurationText.formatExact(longest)));
  }

  /** The server configuration as far as a client can determine it. */
  public StoreReport report(String mode) {
    StoreReport.Builder report =
        StoreReport.about(mode)
            .unknown(
                "forceSync",
                "A client cannot read the servers' configuration. Taken for yes, the default.",
                "Look whether zoo.cfg says forceSync=no: a power loss may then forget locks and"
                    + " tokens.",
                "power-loss");
    if (isOwn) {
      report
          .fine("maxSessionTimeout", DurationText.formatExact(longest), "Longer TTLs are refused.")
          .fine(
              "tickTime",
              "taken for " + DurationText.formatExact(tick),
              "Locks of a process that dies are free after its session: the TTL, from %s on (4 ticks); below, up to %s more (2 ticks). Give tick= in the store URL if minSessionTimeout in zoo.cfg is below two ticks."
                  .formatted(
                      DurationText.formatExact(tick.multipliedBy(4)),
                      DurationText.formatExact(tick.multipliedBy(2))));
    }
    return report.build();
  }
}
