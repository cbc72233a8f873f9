package io.mortise.field.rolling;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The store of the deployment's locks: its servers, and harm to them. For one thread. */
interface LockServers extends AutoCloseable {

  /** The URL, with {@code localhost} as the host. */
  String url();

  /** The ports of all servers on the loopback. */
  List<Integer> ports();

  /** The faults of servers that it can have. */
  Set<DeploymentFault> can();

  /** Kills the server that leads, and starts it again. Blocks until all serve. */
  void failOver();

  /** Takes all space that the servers may write, for so long. Blocks until all serve. */
  void fillDisk(Duration time);

  /** Has the servers show another certificate, of another authority; nothing without TLS. */
  default void renewCertificate() throws IOException {}

  /** Rows or keys of locks, sessions and waiters. */
  long records();

  /** Connections of clients. */
  long connections();

  /** Whether a lock can be shut for a time, so that a tick is never run twice. */
  default boolean keepsAtLeast() {
    return true;
  }

  /** The longest time after which a dead holder's lock is free, if somebody waits for it. */
  default Duration expiry(Duration ttl) {
    return ttl;
  }

  /** Whether a new leader may lack what the former one has granted. */
  default boolean forgetsOnFailover() {
    return false;
  }

  @Override
  void close();
}
