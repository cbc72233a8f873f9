package io.mortise.internal.event;

import io.mortise.event.LockListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listeners of a client that override one method, and the ways to call it. Thread-safe. */
final class ListenerGroup {
  private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

  private final LockListener[] listeners;
  private final EventQueue queue;
  private final AtomicBoolean hasFailed;

  @FunctionalInterface
  interface ListenerCall {
    void to(LockListener listener);
  }

  /**
   * The listeners that override a method.
   *
   * @param event the method's only parameter
   * @param queue the queue of calls that are made later
   * @param hasFailed whether a call of any group of the client has failed
   */
  ListenerGroup(
      List<LockListener> all,
      String method,
      Class<?> event,
      EventQueue queue,
      AtomicBoolean hasFailed) {
    this.listeners =
        all.stream()
            .filter(listener -> overrides(listener, method, event))
            .toArray(LockListener[]::new);
    this.queue = queue;
    this.hasFailed = hasFailed;
  }

  private static boolean overrides(LockListener listener, String method, Class<?> event) {
    try {
      return listener.getClass().getMethod(method, event).getDeclaringClass() != LockListener.class;
    } catch (NoSuchMethodException | LinkageError e) {
      // A native image keeps no list of methods; another method may name a class that is missing.
      return true;
    }
  }

  boolean isEmpty() {
    return listeners.length == 0;
  }

  /** Calls later, in order, unless too many calls wait. */
  void offer(ListenerCall call) {
    if (!isEmpty()) {
      queue.offer(() -> call(call));
    }
  }

  /** Calls later, in order. */
  void add(ListenerCall call) {
    if (!isEmpty()) {
      queue.add(() -> call(call));
    }
  }

  void call(ListenerCall call) {
    for (LockListener listener : listeners) {
      try {
        call.to(listener);
      } catch (RuntimeException | Error e) {
        // Any throwable: a granted lock must reach its caller even so.
        failed(listener, e);
      }
    }
  }

  private void failed(LockListener listener, Throwable failure) {
    if (hasFailed.compareAndSet(false, true)) {
      log.warn(
          "Listener {} of a lock client failed; further failures are logged at DEBUG.",
          listener.getClass().getName(),
          failure);
    } else {
      log.debug("Listener {} of a lock client failed.", listener.getClass().getName(), failure);
    }
  }
}
