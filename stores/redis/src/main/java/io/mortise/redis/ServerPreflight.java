package io.mortise.redis;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.redis.transport.DifferentServersException;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.NotTheMasterException;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.TlsMismatchException;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.TrustedCertificates;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks a server before any lock is entrusted to it. */
final class ServerPreflight {
  private static final Logger log = LoggerFactory.getLogger(ServerPreflight.class);

  /**
   * Errors of a server that starts, fails over, moves a slot, lacks replicas or cannot write to its
   * disk.
   */
  private static final List<String> PASSING =
      List.of(
          "ASK",
          "BUSY",
          "CLUSTERDOWN",
          "LOADING",
          "MASTERDOWN",
          "MISCONF",
          "MOVED",
          "NOREPLICAS",
          "TRYAGAIN");

  private final RedisTransport redis;
  private final RedisOptions options;
  private final String prefix;
  private final String mode;
  private final String store;
  private final Ticker ticker;
  private String version = "0";
  private @Nullable ServerIncarnation incarnation;

  ServerPreflight(RedisTransport redis, RedisOptions options, String store, Ticker ticker) {
    this(redis, options, options.prefix(), "standalone", store, ticker);
  }

  /** Checks a server that should run as {@code mode}, by writing keys with that prefix. */
  ServerPreflight(
      RedisTransport redis,
      RedisOptions options,
      String prefix,
      String mode,
      String store,
      Ticker ticker) {
    this.redis = redis;
    this.options = options;
    this.prefix = prefix;
    this.mode = mode;
    this.store = store;
    this.ticker = ticker;
  }

  /** The server's major version; known after {@link #run}. */
  int majorVersion() {
    return Integer.parseInt(version.split("\\.", 2)[0]);
  }

  /**
   * Checks the server and loads the scripts. Blocks.
   *
   * @return how its clock compares with ours
   */
  StoreClock run() {
    look("SET", prefix + "s:probe", "", "PX", "1");
    for (Script script : Script.values()) {
      answer("SCRIPT LOAD", "SCRIPT", "LOAD", script.text);
    }
    answer("EVALSHA", "EVALSHA", Script.JUDGE.sha, "1", prefix + "s:probe");
    if (!(answer("TIME", "TIME") instanceof List<?> time) || time.size() != 2) {
      throw unfit("The server does not tell its time", "Use a Redis server.");
    }
    return new StoreClock(
        options.timeout(),
        ticker.nanos(),
        Long.parseLong(String.valueOf(time.get(0))) * 1_000_000
            + Long.parseLong(String.valueOf(time.get(1))));
  }

  /** The incarnation of the server that was checked. */
  @Nullable ServerIncarnation incarnation() {
    return incarnation;
  }

  /**
   * Checks the server only. Blocks.
   *
   * @param write a command that writes a short-lived key of ours, or would
   */
  void look(String... write) {
    Map<String, String> info = new HashMap<>();
    for (String section : List.of("server", "replication", "memory")) {
      String.valueOf(answer("INFO", "INFO", section))
          .lines()
          .map(line -> line.split(":", 2))
          .filter(pair -> pair.length == 2)
          .forEach(pair -> info.put(pair[0], pair[1].trim()));
    }
    version = info.getOrDefault("redis_version", "0");
    // The server counts full seconds, so the uptime may be one second less.
    long uptime = Long.parseLong(info.getOrDefault("uptime_in_seconds", "0")) - 1;
    incarnation =
        new ServerIncarnation(
            info.getOrDefault("master_replid", ""), Duration.ofSeconds(Math.max(0, uptime)));
    checkVersion(version);
    // Valkey's name for it.
    String running =
        info.getOrDefault("redis_mode", info.getOrDefault("server_mode", "standalone"));
    if (!running.equals(mode)) {
      throw unfit(
          "The server runs as " + running + ", not " + mode,
          "Write redis:// for a server alone, redis-sentinel:// for one behind Sentinel, redis-cluster:// for a cluster.");
    }
    if (!info.getOrDefault("role", "master").equals("master")) {
      throw StoreUnfitException.notWritable(
          "The server is a replica (store=%s). Connect to the primary.".formatted(store));
    }
    checkEviction(info.getOrDefault("maxmemory_policy", "noeviction"), info.get("maxmemory"));
    checkWriting(write);
  }

  private void checkVersion(String version) {
    String[] parts = version.split("\\.", 3);
    int major = Integer.parseInt(parts[0]);
    int minor = parts.length > 1 ? Integer.parseInt(parts[1]) : 0;
    if (major < 6 || (major == 6 && minor < 2)) {
      throw unfit("The server is Redis " + version, "Mortise needs 6.2 or later.");
    }
  }

  private void checkEviction(String policy, @Nullable String maxmemory) {
    if (policy.equals("noeviction") || "0".equals(maxmemory)) {
      return;
    }
    if (!options.acceptEviction()) {
      throw unfit(
          "The server may evict locks when its memory is full: maxmemory-policy is " + policy,
          "Set maxmemory-policy to noeviction, use another server, or accept lost locks by accept-eviction=true.");
    }
    log.warn(
        "Redis may evict locks when its memory is full: maxmemory-policy is {} (store={}). Accepted by accept-eviction.",
        policy,
        store);
  }

  /** A full server is no reason to refuse. */
  private void checkWriting(String... write) {
    try {
      answer("SET of our own keys", write);
    } catch (StoreUnfitException e) {
      if (!isAbout(e.getCause(), "OOM")) {
        throw e;
      }
    }
  }

  @Nullable Object answer(String what, String... words) {
    try {
      return redis
          .call(words)
          .toCompletableFuture()
          .get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ErrorReplyException refusal) {
        throw refused(what, refusal);
      }
      throw unanswered(e.getCause() == null ? e : e.getCause(), words[0], store);
    } catch (TimeoutException e) {
      throw unreachable(e, store);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unreachable(e, store);
    }
  }

  private LockException refused(String what, ErrorReplyException refusal) {
    String said =
        "The server refused %s (store=%s): %s.".formatted(what, store, refusal.getMessage());
    if (refusal.is("READONLY")) {
      return StoreUnfitException.notWritable(said + " Connect to the primary.");
    }
    return PASSING.stream().anyMatch(refusal::is)
        ? new StoreUnavailableException(said, refusal)
        : new StoreUnfitException(said + " Allow it to this user, or use another server.", refusal);
  }

  private StoreUnfitException unfit(String what, String todo) {
    return new StoreUnfitException("%s (store=%s). %s".formatted(what, store, todo));
  }

  /** Explains why a connection could not be opened, without showing the URL. */
  static LockException cannotConnect(Throwable failure, String store) {
    if (root(failure) instanceof ErrorReplyException error && error.refusedCommand() != null) {
      return new StoreUnfitException(
          "The server refuses the command %s (store=%s): %s. Mortise needs Redis 6.2 or later, and this command allowed under its own name."
              .formatted(error.refusedCommand(), store, error.getMessage()),
          failure);
    }
    for (String refusal :
        List.of("WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "invalid password")) {
      if (isAbout(failure, refusal)) {
        return new StoreUnfitException(
            "Redis refused the credentials (store=%s): %s. Check user name and password in the store URL."
                .formatted(
                    store, String.valueOf(root(failure).getMessage()).replaceFirst("\\.+$", "")));
      }
    }
    if (isAbout(failure, "NOMASTER")) {
      return new StoreUnfitException(
          "No Sentinel knows a master of that name (store=%s). Check the name behind the last slash of the store URL."
              .formatted(store));
    }
    if (isAbout(failure, "invalid DB index") || isAbout(failure, "DB index is out of range")) {
      return new StoreUnfitException(
          "Redis has no such database (store=%s). Check the number in the store URL."
              .formatted(store));
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof DifferentServersException) {
        return new StoreUnfitException(
            "Redis must not be used (store=%s): %s.".formatted(store, cause.getMessage()), cause);
      }
      if (cause instanceof NotTheMasterException && !isAbout(failure, "Sentinel")) {
        return StoreUnfitException.notWritable(
            "The server is a replica (store=%s). Connect to the primary.".formatted(store));
      }
      if (cause instanceof TlsMismatchException) {
        return new StoreUnfitException(
            "Cannot connect to Redis (store=%s): %s.".formatted(store, cause.getMessage()), cause);
      }
      if (cause instanceof javax.net.ssl.SSLException) {
        return new StoreUnfitException(
            "The TLS handshake with Redis failed (store=%s): %s. %s"
                .formatted(
                    store,
                    root(failure).getMessage(),
                    TrustedCertificates.advice(
                        failure, "Check the certificate and the parameter 'ca'.")),
            cause);
      }
    }
    return unreachable(failure, store);
  }

  private static StoreUnavailableException unanswered(
      Throwable failure, String command, String store) {
    Throwable root = root(failure);
    return new StoreUnavailableException(
        "Redis did not answer the command %s (store=%s): %s. Check that the server runs, and that no proxy in front of it lacks the command."
            .formatted(command, store, text(root)),
        root);
  }

  private static String text(Throwable root) {
    String reason = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
    return reason.replaceFirst("\\.+$", "");
  }

  private static StoreUnavailableException unreachable(Throwable failure, String store) {
    Throwable root = root(failure);
    return new StoreUnavailableException(
        "Cannot reach Redis (store=%s): %s. Check host and port, and that the server runs."
            .formatted(store, text(root)),
        root);
  }

  private static boolean isAbout(@Nullable Throwable failure, String word) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null && cause.getMessage().contains(word)) {
        return true;
      }
    }
    return false;
  }

  private static Throwable root(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }
}
