package io.mortise.field.rolling;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The servers of the deployment's locks, and their faults. For one thread. */
interface LockServers extends AutoCloseable {

  /** The URL, with {@code localhost} as the host. */
  String url();

  /** The ports of all servers on the loopback. */
  List<Integer> ports();

  /** The supported faults of servers. */
  Set<DeploymentFault> can();

  /** Kills the leading server and restarts it. Blocks until all serve. */
  void failOver();

  /** Fills the servers' disks for this time. Blocks until all serve. */
  void fillDisk(Duration time);

  /** Gives the servers a certificate of another authority; does nothing without TLS. */
  default void renewCertificate() throws IOException {}

  /** Rows or keys of locks, sessions and waiters. */
  long records();

  /** Connections of clients. */
  long connections();

  /** Whether the store keeps at-least times, so that no tick runs twice. */
  default boolean keepsAtLeast() {
    return true;
  }

  /** The longest time until a dead holder's lock is free, if it has a waiter. */
  default Duration expiry(Duration ttl) {
    return ttl;
  }

  /** Whether a new leader may lack grants of the former one. */
  default boolean forgetsOnFailover() {
    return false;
  }

  @Override
  void close();
}
