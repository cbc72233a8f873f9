package io.mortise.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait to be sent or executed. Acquires go last, in order of arrival: most of them
 * are polls, and a release that frees a lock must not queue behind the polls of all its waiters
 * (invariants.md#ends-before-acquires). Nor must an acquire that confirms a hold, whose lease is
 * not valid until it is answered. Requests of one attempt keep their order. Not thread-safe.
 *
 * @param <T> an entry for a request
 */
public final class RequestQueue<T> {
  private final ArrayDeque<T> first = new ArrayDeque<>(1);

  /** By attempt, so that an end finds the acquire that must go before it. */
  private final Map<AttemptId, T> acquires = new LinkedHashMap<>();

  /** An empty queue. */
  public RequestQueue() {}

  /**
   * Adds an entry.
   *
   * @param request null for an entry without an attempt, which goes before acquires
   */
  public void add(@Nullable Request request, T entry) {
    if (request == null) {
      first.add(entry);
      return;
    }
    T before = acquires.isEmpty() ? null : acquires.remove(request.attempt());
    if (before != null) {
      first.add(before);
    }
    if (before == null && request instanceof Request.Acquire acquire && !acquire.confirms()) {
      acquires.put(request.attempt(), entry);
    } else {
      first.add(entry);
    }
  }

  /** The next entry; null if there is none. */
  public @Nullable T peek() {
    T next = first.peek();
    return next != null || acquires.isEmpty() ? next : acquires.values().iterator().next();
  }

  /** Removes the next entry; null if there is none. */
  public @Nullable T poll() {
    T next = first.poll();
    if (next == null && !acquires.isEmpty()) {
      var eldest = acquires.values().iterator();
      next = eldest.next();
      eldest.remove();
    }
    return next;
  }

  /** Whether there is no entry. */
  public boolean isEmpty() {
    return first.isEmpty() && acquires.isEmpty();
  }
}
