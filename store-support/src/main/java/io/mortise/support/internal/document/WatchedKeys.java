package io.mortise.support.internal.document;

import io.mortise.support.document.VersionedDocuments.VersionedText;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys that this process watches, each by a request that the server answers when the key
 * changes, by a subscription, or by repeated reads. Changes have rising indexes. A watch is only a
 * hint: the next renewal delivers missed notifications.
 *
 * <p><b>Start and silence.</b> A write of this process, such as the first renewal of a session,
 * sends a request for the changes after it. The next renewal is such a change, so the server must
 * report it. If it has not by the time of the following renewal, another request replaces the
 * silent one. A request that ends is sent again, at once if it has reported a change, otherwise
 * with the next renewal: so the watch never loops, even with a server that ends each request.
 *
 * <p>Thread-safe. Takes no lock.
 */
public final class WatchedKeys {
  private final RequestSender sender;

  /** A handful: the sessions of a client. */
  private final List<WatchedKey> keys = new CopyOnWriteArrayList<>();

  /** An instance that watches no key yet. */
  public WatchedKeys(RequestSender sender) {
    this.sender = sender;
  }

  /** Sends a request for the changes of a key. */
  @FunctionalInterface
  public interface RequestSender {
    /** Does not block. If it throws, the request has ended. */
    void send(String key, WatchRequest request);
  }

  /**
   * Watches a key once more, from its next write on.
   *
   * @param changed runs on the thread that calls {@link WatchRequest#tell}, with the document as of
   *     that change, or null if it has to be read
   * @return the action that ends the watch
   */
  public Runnable add(String key, Consumer<@Nullable VersionedText> changed) {
    WatchedKey watched = new WatchedKey(key, changed);
    keys.add(watched);
    return () -> {
      keys.remove(watched);
      watched.end();
    };
  }

  /**
   * Records a write of this process to a key, which need not be watched.
   *
   * @param index the key's index after the write
   */
  public void written(String key, long index) {
    for (WatchedKey watched : keys) {
      if (watched.key.equals(key)) {
        watched.written(index);
      }
    }
  }

  /** Ends all watches. */
  public void close() {
    List<WatchedKey> all = List.copyOf(keys);
    keys.clear();
    all.forEach(WatchedKey::end);
  }

  /** A request for the changes of a key. */
  public static final class WatchRequest {
    private final WatchedKey watched;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile long seen;
    private volatile boolean hasTold;

    private WatchRequest(WatchedKey watched, long seen) {
      this.watched = watched;
      this.seen = seen;
    }

    /** The index of the last known change: later ones are to be reported. */
    public long seen() {
      return seen;
    }

    /**
     * Reports a change.
     *
     * @param index the index of the change, which is the document's version
     * @param text the document's text; null if the server has not told it, or there is none
     * @param isOwn whether this process is known to have made it
     */
    public void tell(long index, @Nullable String text, boolean isOwn) {
      seen = index;
      hasTold = true;
      if (!isOwn && index != watched.written && watched.request.get() == this) {
        watched.changed.accept(text == null ? null : new VersionedText(text, Long.toString(index)));
      }
    }

    /**
     * Ends this request together with the exchange that carries it.
     *
     * @param answered receives the whole answer, if there is one, while the request continues
     */
    public <T> void carriedBy(CompletableFuture<T> exchange, Consumer<T> answered) {
      var unused = end.whenComplete((none, failure) -> exchange.cancel(true));
      unused = exchange.thenAccept(answered).whenComplete((none, failure) -> end.complete(null));
    }

    /** Ends it, by either side: the server will report nothing more. */
    public void end() {
      end.cancel(true);
    }
  }

  /** A key, and the request that watches it now. */
  private final class WatchedKey {
    private final String key;
    private final Consumer<@Nullable VersionedText> changed;
    private final AtomicReference<@Nullable WatchRequest> request = new AtomicReference<>();

    /** The index of the last write of this process. */
    private volatile long written;

    private WatchedKey(String key, Consumer<@Nullable VersionedText> changed) {
      this.key = key;
      this.changed = changed;
    }

    private void written(long index) {
      WatchRequest present = request.get();
      boolean isAlive = present != null && present.seen >= written;
      written = index;
      if (!isAlive) {
        replace(present, index);
      }
    }

    private void replace(@Nullable WatchRequest before, long seen) {
      WatchRequest next = new WatchRequest(this, seen);
      if (!request.compareAndSet(before, next)) {
        return;
      }
      if (before != null) {
        before.end();
      }
      var unused = next.end.whenComplete((none, failure) -> ended(next));
      if (!keys.contains(this)) {
        end();
        return;
      }
      try {
        sender.send(key, next);
      } catch (RuntimeException e) {
        // The write was executed although its watch failed. The next write sends another request.
        next.end();
      }
    }

    private void ended(WatchRequest last) {
      if (last.hasTold) {
        replace(last, last.seen);
      } else {
        request.compareAndSet(last, null);
      }
    }

    private void end() {
      WatchRequest last = request.getAndSet(null);
      if (last != null) {
        last.end();
      }
    }
  }
}
