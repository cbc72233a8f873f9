package io.mortise.etcd;

import static io.mortise.etcd.JsonText.base64;

import io.mortise.etcd.JsonReader.JsonObject;
import io.mortise.internal.storekit.HttpServers.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One stream of etcd for all keys that this process watches. It only hints: the next renewal tells
 * what a stream has missed.
 *
 * <p><b>Silence.</b> The process's own writes show whether a stream is alive: the renewal of a
 * session changes the key that is watched. If the stream has not told of one renewal by the next,
 * it is begun anew. One that ends is begun anew too, at once if it had told of a write, else with
 * the next renewal.
 *
 * <p>Thread-safe. Nothing is called under the lock.
 */
final class EtcdWatch {
  private final EtcdGateway gateway;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, WatchedKey> keys = new HashMap<>();
  private @Nullable WatchStream current;
  private boolean closed;

  /** A key, and the revision of the last write of this process. Guarded by the lock. */
  private static final class WatchedKey {
    private final Runnable changed;
    private long written;

    WatchedKey(Runnable changed) {
      this.changed = changed;
    }
  }

  EtcdWatch(EtcdGateway gateway) {
    this.gateway = gateway;
  }

  /** Watches one more key; returns what ends that. */
  Runnable add(String key, Runnable changed) {
    WatchedKey watched = new WatchedKey(changed);
    guard.lock();
    try {
      keys.put(key, watched);
    } finally {
      guard.unlock();
    }
    restart(null);
    return () -> remove(key, watched);
  }

  private void remove(String key, WatchedKey watched) {
    WatchStream idle = null;
    guard.lock();
    try {
      keys.remove(key, watched);
      if (keys.isEmpty()) {
        idle = current;
        current = null;
      }
    } finally {
      guard.unlock();
    }
    if (idle != null) {
      idle.cancel();
    }
  }

  /** This process has written a key, which need not be watched. */
  void written(String key, long revision) {
    boolean dead = false;
    guard.lock();
    try {
      WatchedKey watched = keys.get(key);
      if (watched == null) {
        return;
      }
      WatchStream stream = current;
      dead = stream == null || (watched.written > 0 && stream.seen < watched.written);
      watched.written = revision;
    } finally {
      guard.unlock();
    }
    if (dead) {
      restart(null);
    }
  }

  /**
   * Begins a stream on all keys, in place of the present one.
   *
   * @param only null, or the stream that has to be the present one
   */
  private void restart(@Nullable WatchStream only) {
    WatchStream before;
    WatchStream next = new WatchStream();
    String body;
    guard.lock();
    try {
      before = current;
      if (closed || keys.isEmpty() || (only != null && only != before)) {
        return;
      }
      current = next;
      body =
          keys.keySet().stream()
              .map(key -> "{\"create_request\":{\"key\":" + base64(key) + "}}")
              .collect(Collectors.joining("\n"));
    } finally {
      guard.unlock();
    }
    if (before != null) {
      before.cancel();
    }
    next.begin(body);
  }

  private void forget(WatchStream stream) {
    guard.lock();
    try {
      current = current == stream ? null : current;
    } finally {
      guard.unlock();
    }
  }

  private void take(WatchStream stream, JsonObject result) {
    List<Runnable> calls = new ArrayList<>();
    guard.lock();
    try {
      if (stream != current) {
        return;
      }
      stream.seen = Math.max(stream.seen, result.object("header").number("revision"));
      if (result.flag("created")) {
        // What was written before is not told.
        keys.values().forEach(watched -> calls.add(watched.changed));
      }
      for (JsonObject event : result.objects("events")) {
        stream.hasTold = true;
        JsonObject written = event.object("kv");
        WatchedKey watched = keys.get(JsonText.plain(written.text("key")));
        if (watched != null && watched.written != written.number("mod_revision")) {
          calls.add(watched.changed);
        }
      }
    } finally {
      guard.unlock();
    }
    calls.forEach(Runnable::run);
  }

  private void ended(WatchStream stream) {
    if (stream.hasTold) {
      restart(stream);
    } else {
      forget(stream);
    }
  }

  void close() {
    WatchStream last;
    guard.lock();
    try {
      closed = true;
      keys.clear();
      last = current;
      current = null;
    } finally {
      guard.unlock();
    }
    if (last != null) {
      last.cancel();
    }
  }

  /** The answer to one request, line by line. */
  private final class WatchStream implements Consumer<String> {
    /** Whether it has told of a write: one that ends at once, each time, is not worth a loop. */
    private volatile boolean hasTold;

    /** The latest revision that it has told of. Guarded by the lock. */
    private long seen;

    /** Another thread may cancel it before anything is sent. */
    private final CompletableFuture<HttpResponse> end = new CompletableFuture<>();

    void begin(String body) {
      gateway.stream("/v3/watch", body, this, end);
      var unused = end.whenComplete((answer, failure) -> ended(this));
    }

    void cancel() {
      end.cancel(true);
    }

    @Override
    public void accept(String line) {
      JsonObject answer;
      try {
        answer = JsonReader.read(line);
      } catch (IllegalArgumentException e) {
        // An error of the server in another form: its stream ends.
        return;
      }
      JsonObject result = answer.object("result");
      if (result.flag("canceled")) {
        forget(this);
        cancel();
      } else {
        take(this, result);
      }
    }
  }
}
