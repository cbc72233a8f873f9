package io.mortise.consul;

import io.mortise.consul.ConsulGateway.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Blocking queries, one for each key that this process watches. They only hint: the next renewal
 * tells what they have missed.
 *
 * <p><b>Start and silence.</b> A write of this process, such as the first renewal of a session,
 * starts a query for changes after its index. The next renewal is such a change, so Consul must
 * answer the query. If the query has not reported a renewal by the time of the following one, the
 * watch starts it again. A query that fails or reports no change ends. The next renewal starts
 * another one, so the watch never asks in a loop, even if a server lets no query wait.
 *
 * <p>Thread-safe. No callback is run under the lock.
 */
final class ConsulWatch {
  /** Consul's own default; renewals end the wait much sooner. */
  private static final String WAIT = "&wait=5m";

  /** Consul adds up to a sixteenth of the wait, and the network its own. */
  private static final Duration LIMIT = Duration.ofMinutes(6);

  private static final Pattern FLAGS = Pattern.compile("\"Flags\":\\s*(\\d+)");

  private final ConsulGateway gateway;
  private final EntryFlags own;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, WatchedKey> keys = new HashMap<>();

  /** A key, and what is known of it. Guarded by the lock. */
  private static final class WatchedKey {
    private final String path;
    private final Runnable changed;

    /** The index of the last write of this process. */
    private long written;

    /** The latest index that a query has told. */
    private long seen;

    private @Nullable CompletableFuture<Answer> query;

    WatchedKey(String path, Runnable changed) {
      this.path = path;
      this.changed = changed;
    }
  }

  /**
   * Watches nothing yet.
   *
   * @param own the flags of entries that are written here
   */
  ConsulWatch(ConsulGateway gateway, EntryFlags own) {
    this.gateway = gateway;
    this.own = own;
  }

  /** Watches one more key from its next write on; returns what ends that. */
  Runnable add(String key, Runnable changed) {
    WatchedKey watched = new WatchedKey(ConsulDocuments.PATH + key, changed);
    guard.lock();
    try {
      keys.put(key, watched);
    } finally {
      guard.unlock();
    }
    return () -> remove(key, watched);
  }

  private void remove(String key, WatchedKey watched) {
    CompletableFuture<Answer> query;
    guard.lock();
    try {
      keys.remove(key, watched);
      query = watched.query;
      watched.query = null;
    } finally {
      guard.unlock();
    }
    cancel(query);
  }

  private static void cancel(@Nullable CompletableFuture<Answer> query) {
    if (query != null) {
      query.cancel(true);
    }
  }

  /** This process has written a key, which need not be watched. */
  void written(String key, long index) {
    WatchedKey watched;
    CompletableFuture<Answer> silent = null;
    guard.lock();
    try {
      watched = keys.get(key);
      if (watched == null) {
        return;
      }
      boolean alive = watched.query != null && watched.seen >= watched.written;
      watched.written = index;
      if (alive) {
        return;
      }
      silent = watched.query;
      watched.query = null;
      watched.seen = index;
    } finally {
      guard.unlock();
    }
    cancel(silent);
    ask(key, watched, null);
  }

  /**
   * Sends the next query for a key.
   *
   * @param before the one that was answered; null if there is none
   */
  private void ask(String key, WatchedKey watched, @Nullable CompletableFuture<Answer> before) {
    CompletableFuture<Answer> query = new CompletableFuture<>();
    String path;
    guard.lock();
    try {
      if (keys.get(key) != watched || watched.query != before) {
        return;
      }
      path = watched.path + "?index=" + watched.seen + WAIT;
      watched.query = query;
    } finally {
      guard.unlock();
    }
    gateway.awaitChange(path, LIMIT, query);
    CompletionStage<Void> unused =
        query.handle(
            (answer, failure) -> {
              take(key, watched, query, failure == null ? answer : null);
              return null;
            });
  }

  private void take(
      String key, WatchedKey watched, CompletableFuture<Answer> query, @Nullable Answer answer) {
    boolean goesOn = answer != null && answer.isPositive();
    boolean byOther = false;
    guard.lock();
    try {
      if (watched.query != query) {
        return;
      }
      if (answer != null) {
        // An index that has gone back belongs to a store that was restored.
        goesOn &= answer.index() != watched.seen;
        byOther = goesOn && !isOwn(answer);
        watched.seen = answer.index();
      }
      watched.query = goesOn ? query : null;
    } finally {
      guard.unlock();
    }
    if (byOther) {
      watched.changed.run();
    }
    if (goesOn) {
      ask(key, watched, query);
    }
  }

  private boolean isOwn(Answer answer) {
    Matcher flags = FLAGS.matcher(answer.body());
    return flags.find() && own.areOwn(Long.parseUnsignedLong(flags.group(1)));
  }

  void close() {
    List<CompletableFuture<Answer>> last = new ArrayList<>();
    guard.lock();
    try {
      for (WatchedKey watched : keys.values()) {
        if (watched.query != null) {
          last.add(watched.query);
          watched.query = null;
        }
      }
      keys.clear();
    } finally {
      guard.unlock();
    }
    last.forEach(ConsulWatch::cancel);
  }
}
