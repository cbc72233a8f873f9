package io.mortise.redis;

import io.mortise.redis.transport.TransportListener;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Consumer;

/**
 * Tells all sessions of a store when one of its connections breaks or is reopened. The server may
 * have been restarted meanwhile, or be another one. Thread-safe.
 */
final class ReconnectListeners implements TransportListener {
  private final Set<Runnable> reconnected = new CopyOnWriteArraySet<>();
  private final Set<Consumer<String>> lost = new CopyOnWriteArraySet<>();

  /** The listener must be fast. */
  void add(Runnable listener) {
    reconnected.add(listener);
  }

  void remove(Runnable listener) {
    reconnected.remove(listener);
  }

  /** The listener must be fast; it gets the reason. */
  void addLost(Consumer<String> listener) {
    lost.add(listener);
  }

  void removeLost(Consumer<String> listener) {
    lost.remove(listener);
  }

  @Override
  public void reconnected() {
    reconnected.forEach(Runnable::run);
  }

  @Override
  public void connectionLost(String cause) {
    lost.forEach(listener -> listener.accept(cause));
  }
}
