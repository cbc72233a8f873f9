package io.mortise.redis;

import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.spi.StoreReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Reads the settings of a server that change what its locks guarantee. */
final class RedisSettingsReport {
  private static final String[] CRASHES = {"server-crash", "power-loss"};

  private final CommandSender server;
  private final boolean sentinel;
  private final Map<String, String> info = new HashMap<>();

  @FunctionalInterface
  interface CommandSender {
    CompletionStage<@Nullable Object> call(String... words);
  }

  /**
   * A report whose questions have not been sent yet.
   *
   * @param sentinel whether Sentinels choose the server, so that one without the locks may follow
   *     it
   */
  RedisSettingsReport(CommandSender server, boolean sentinel) {
    this.server = server;
    this.sentinel = sentinel;
  }

  CompletionStage<StoreReport> report() {
    return server
        .call("INFO")
        .thenCompose(
            answer -> {
              read(String.valueOf(answer));
              return server
                  .call("CONFIG", "GET", "appendfsync")
                  .handle(RedisSettingsReport::valueOrRefusal);
            })
        .thenCombine(
            // The channel does not matter: the question is whether this user may ask.
            server.call("PUBSUB", "NUMSUB", "m").handle(RedisSettingsReport::valueOrRefusal),
            this::report);
  }

  private void read(String answer) {
    answer
        .lines()
        .map(line -> line.split(":", 2))
        .filter(pair -> pair.length == 2)
        .forEach(pair -> info.put(pair[0], pair[1].strip()));
  }

  /** A setting, or the refusal: hosted servers and users with few rights may not show it. */
  private record Setting(String value, String refusal) {}

  private static Setting valueOrRefusal(@Nullable Object answer, @Nullable Throwable failure) {
    if (failure != null) {
      Throwable cause = failure;
      while (!(cause instanceof ErrorReplyException) && cause.getCause() != null) {
        cause = cause.getCause();
      }
      if (cause instanceof ErrorReplyException) {
        return new Setting("", String.valueOf(cause.getMessage()));
      }
      throw new CompletionException(failure);
    }
    return answer instanceof List<?> pair && pair.size() == 2
        ? new Setting(String.valueOf(pair.get(1)), "")
        : new Setting("", "the server does not tell");
  }

  private StoreReport report(Setting appendfsync, Setting listeners) {
    StoreReport.Builder report = StoreReport.about("redis/forgets");
    String valkey = info.get("valkey_version");
    if (valkey == null) {
      report.fine("redis_version", text("redis_version"), "Supported from 6.2.");
    } else {
      report.fine(
          "valkey_version",
          valkey,
          "Supported from 8.0. It speaks the protocol of Redis " + text("redis_version") + ".");
    }
    persistence(report, appendfsync);
    memory(report);
    replicas(report);
    clients(report);
    waiters(report, listeners);
    if (sentinel) {
      report.mode("redis-sentinel");
    }
    return report.build();
  }

  private void persistence(StoreReport.Builder report, Setting appendfsync) {
    if (!info.getOrDefault("rdb_last_bgsave_status", "ok").equals("ok")) {
      report.note(
          "rdb_last_bgsave_status",
          text("rdb_last_bgsave_status"),
          "The last snapshot failed. With stop-writes-on-bgsave-error, the default, the server refuses all locks (MISCONF).",
          "Look at the server's log and its disk.");
    }
    if (number("aof_enabled") != 1) {
      report.weak(
          "appendonly",
          "no",
          "After a restart the locks are forgotten, or are those of an old snapshot, and are granted again.",
          "Set appendonly yes, in the configuration file too (CONFIG SET appendonly yes, CONFIG REWRITE).",
          CRASHES);
      return;
    }
    report.fine("appendonly", "yes", "Locks outlive a restart of the server.");
    switch (appendfsync.value()) {
      case "always" -> {
        report.mode("redis/always");
        report.fine(
            "appendfsync", "always", "A grant is forced to the disk before it is answered.");
      }
      case "everysec", "no" -> {
        report.mode("redis/everysec");
        report.note(
            "appendfsync",
            appendfsync.value(),
            appendfsync.value().equals("no")
                ? "A power loss forgets what the system had not written yet, up to half a minute."
                : "A power loss forgets about the last second; so does a crash while the disk is very busy.",
            "Set appendfsync always: each grant then waits for the disk.",
            CRASHES);
      }
      default -> {
        report.mode("redis/everysec");
        report.unknown(
            "appendfsync",
            "Cannot be read: " + appendfsync.refusal() + ". Taken for everysec.",
            "Allow CONFIG GET to this user (ACL: +config|get), or look at the configuration file.",
            CRASHES);
      }
    }
    if (!info.getOrDefault("aof_last_write_status", "ok").equals("ok")) {
      report.mode("redis/forgets");
      report.weak(
          "aof_last_write_status",
          text("aof_last_write_status"),
          "The log could not be written: what is granted now may be forgotten.",
          "Look at the server's log and its disk.",
          CRASHES);
    }
  }

  private void memory(StoreReport.Builder report) {
    long most = number("maxmemory");
    String policy = text("maxmemory_policy");
    if (most <= 0) {
      report.fine(
          "maxmemory", "0", "There is no limit at which locks would be evicted or refused.");
    } else if (!policy.equals("noeviction")) {
      report.weak(
          "maxmemory-policy",
          policy,
          "A full server evicts locks (accept-eviction allows it; "
              + text("evicted_keys")
              + " keys of any kind have been evicted since its start).",
          "Set maxmemory-policy noeviction, or keep locks on a server of their own.",
          "lost-data");
    } else {
      long percent = number("used_memory") * 100 / most;
      String value = percent + " % used";
      String meaning =
          "A full server evicts nothing (noeviction): it refuses new locks and goes on serving held ones.";
      if (percent >= 90) {
        report.note("maxmemory", value, meaning, "Raise maxmemory before it is full.");
      } else {
        report.fine("maxmemory", value, meaning);
      }
    }
  }

  private void replicas(StoreReport.Builder report) {
    long replicas = number("connected_slaves");
    if (replicas > 0) {
      report.note(
          "connected_slaves",
          Long.toString(replicas),
          "Redis answers before its replicas have a grant: one that is promoted may give the lock again.",
          "Let the resource compare tokens.",
          "failover");
    } else {
      report.fine("connected_slaves", "0", "No replica could take over without the locks.");
    }
  }

  private void clients(StoreReport.Builder report) {
    long most = number("maxclients");
    long now = number("connected_clients");
    if (most > 0 && now * 10 >= most * 9) {
      report.note(
          "maxclients",
          now + " of " + most,
          "Few connections are left, and each process needs two.",
          "Raise maxclients.");
    } else {
      report.fine(
          "maxclients",
          most > 0 ? now + " of " + most : Long.toString(now),
          "Each process needs two connections.");
    }
  }

  private static void waiters(StoreReport.Builder report, Setting listeners) {
    if (!listeners.refusal().isEmpty()) {
      report.note(
          "pubsub",
          "refused",
          "A waiter that was killed at the head of a queue is handed the lock all the same, and delays the next until its session ends.",
          "Allow PUBSUB to this user (ACL: +@pubsub).",
          "client-crash");
    }
  }

  private String text(String name) {
    return info.getOrDefault(name, "unknown");
  }

  private long number(String name) {
    try {
      return Long.parseLong(info.getOrDefault(name, "0"));
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
