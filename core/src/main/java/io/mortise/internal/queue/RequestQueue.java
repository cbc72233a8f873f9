package io.mortise.internal.queue;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait to be sent or executed. Acquires go last, in the order in which they came:
 * most of them are polls, and a release that frees a lock must not stand behind those of all who
 * wait for it (invariants.md#ends-before-acquires). Nor must one that confirms a hold, whose lease
 * is not valid until it is answered. Requests of one attempt keep their order. Not thread-safe.
 *
 * @param <T> what stands for a request
 */
public final class RequestQueue<T> {
  private final ArrayDeque<T> first = new ArrayDeque<>(1);

  /** By attempt, so that an end finds the acquire that must go before it. */
  private final Map<AttemptId, T> acquires = new LinkedHashMap<>();

  /** A queue of nothing. */
  public RequestQueue() {}

  /**
   * Adds one.
   *
   * @param request null for what concerns no attempt, which goes before acquires
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

  /** The next one; null if there is none. */
  public @Nullable T peek() {
    T next = first.peek();
    return next != null || acquires.isEmpty() ? next : acquires.values().iterator().next();
  }

  /** Removes the next one; null if there is none. */
  public @Nullable T poll() {
    T next = first.poll();
    if (next == null && !acquires.isEmpty()) {
      var eldest = acquires.values().iterator();
      next = eldest.next();
      eldest.remove();
    }
    return next;
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return first.isEmpty() && acquires.isEmpty();
  }
}
