package io.mortise.redis.transport;

/** Is told when a connection breaks or is reopened, on the reading thread; must be fast. */
@FunctionalInterface
public interface TransportListener {
  /**
   * The connection was reopened: the server may have been restarted meanwhile, or be another one.
   */
  void reconnected();

  /** The connection broke, for that reason. */
  default void connectionLost(String cause) {}
}
