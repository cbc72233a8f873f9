package io.mortise.redis.transport;

/** Learns what becomes of a connection, on the thread that reads; must be fast. */
@FunctionalInterface
public interface TransportListener {
  /** It was made anew: the server may have been restarted meanwhile, or be another one. */
  void reconnected();

  /** It broke, for that reason. */
  default void connectionLost(String cause) {}
}
