package io.mortise.memcached;

import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.StoreReport;
import java.util.Map;

/** Judges and reports the server's {@code stats settings} and {@code stats}. */
final class ServerSettings {
  private static final String NO_EVICTION =
      "Start it with -M, which refuses new items when the memory is full.";

  private ServerSettings() {}

  /**
   * Refuses a server that is not fit for locks.
   *
   * @throws StoreUnfitException with what to do
   */
  static void check(MemcachedTarget target, Map<String, String> settings) {
    if (!settings.containsKey("cas_enabled") || !settings.containsKey("evictions")) {
      throw new StoreUnfitException(
          "The server does not tell its settings (store=%s). Connect to memcached itself, not to a proxy."
              .formatted(target));
    } else if (!settings.get("cas_enabled").equals("yes")) {
      throw new StoreUnfitException(
          "The server has no CAS values, by which a lock is deleted (store=%s). Start it without -C."
              .formatted(target));
    } else if (evicts(settings) && !target.acceptsEviction()) {
      throw new StoreUnfitException(
          "The server evicts items when its memory is full, locks too (store=%s). %s Or accept that with accept-eviction=true."
              .formatted(target, NO_EVICTION));
    }
  }

  private static boolean evicts(Map<String, String> settings) {
    return !"off".equals(settings.get("evictions"));
  }

  /** For {@code mortise doctor}. */
  static StoreReport report(Map<String, String> settings, Map<String, String> statistics) {
    StoreReport.Builder report =
        StoreReport.about(evicts(settings) ? "memcached/evicting" : "memcached");
    report.note(
        "token",
        "none",
        "Nothing can refuse a late holder: for double work that is a waste, not for double work that does harm.",
        "Take another store where double work does harm.");
    if (evicts(settings)) {
      report.weak(
          "evictions",
          "on, " + shown(statistics, "evictions") + " so far",
          "When the memory is full, held locks are dropped, and others are granted them.",
          NO_EVICTION,
          "lost-data");
    } else {
      report.fine("evictions", "off", "A full server refuses new locks, and keeps those held.");
    }
    String moved = shown(statistics, "slab_reassign_evictions_nomem");
    if (!moved.equals("0")) {
      report.weak(
          "slab_reassign_evictions_nomem",
          moved,
          "Items were dropped while memory was moved between sizes of items, also without eviction.",
          "Give the server more memory (-m).",
          "lost-data");
    }
    if ("yes".equals(settings.get("flush_enabled"))) {
      report.note(
          "flush_enabled",
          "yes",
          "Any client may make the server forget all locks, by flush_all.",
          "Start it with -F.",
          "lost-data");
    } else {
      report.fine("flush_enabled", "no", "No client can make the server forget all locks.");
    }
    report.note(
        "version",
        shown(statistics, "version"),
        "A restart forgets all locks.",
        "",
        "server-crash",
        "power-loss");
    return report.build();
  }

  private static String shown(Map<String, String> statistics, String id) {
    return FailureText.quoted(statistics.getOrDefault(id, "?"));
  }
}
