package io.mortise.redis;

import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/**
 * Tells whoever wants to know that a connection was made anew: the server may have been restarted
 * meanwhile, or be another one. Thread-safe.
 */
final class ReconnectListeners implements Runnable {
  private final Set<Runnable> listeners = new CopyOnWriteArraySet<>();

  /** The listener must be fast. */
  void add(Runnable listener) {
    listeners.add(listener);
  }

  void remove(Runnable listener) {
    listeners.remove(listener);
  }

  @Override
  public void run() {
    listeners.forEach(Runnable::run);
  }
}
