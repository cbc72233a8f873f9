package io.mortise.console.page;

import io.mortise.spi.StoreReport;

/** The report of an ordinary Redis server. */
final class SampleDiagnostics {
  private SampleDiagnostics() {}

  static StoreReport report() {
    return StoreReport.about("redis/forgets")
        .weak(
            "appendonly",
            "no",
            "After a restart the locks are forgotten, or are those of an old snapshot, and are granted again.",
            "Set appendonly yes, in the configuration file too (CONFIG SET appendonly yes, CONFIG REWRITE).",
            "power-loss",
            "server-crash")
        .note("maxclients", "10 of 10000", "Each client has one connection.", "")
        .fine("redis_version", "7.0.15", "It has all that is needed.")
        .build();
  }

  /** The report of one that keeps all it acknowledges. */
  static StoreReport healthy() {
    return StoreReport.about("redis/always")
        .fine("appendonly", "yes", "Locks outlive a restart of the server.")
        .fine("appendfsync", "always", "A grant is on disk before it is answered.")
        .note("maxclients", "10 of 10000", "Each client has one connection.", "")
        .fine("redis_version", "7.0.15", "It has all that is needed.")
        .build();
  }
}
