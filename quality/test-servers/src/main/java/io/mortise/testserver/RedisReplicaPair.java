package io.mortise.testserver;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A Redis primary and its replica behind one address, like a floating IP address or DNS name. The
 * replica can be made to lag, and to take over. Ended by {@link #close()}. For one thread.
 */
public final class RedisReplicaPair implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  private final Path binary;
  private final FaultInjectionProxy address;
  private RedisServer primary;
  private RedisServer replica;

  /** The proxy between the replica and the primary. */
  private FaultInjectionProxy cable;

  private RedisReplicaPair(
      Path binary,
      RedisServer primary,
      RedisServer replica,
      FaultInjectionProxy address,
      FaultInjectionProxy cable) {
    this.binary = binary;
    this.primary = primary;
    this.replica = replica;
    this.address = address;
    this.cable = cable;
  }

  /**
   * Starts both, and waits until the replica follows.
   *
   * @param binary {@code redis-server}
   */
  public static RedisReplicaPair start(Path binary) {
    RedisServer primary = server(binary);
    RedisServer replica = null;
    FaultInjectionProxy address = null;
    try {
      replica = server(binary);
      address = FaultInjectionProxy.to(primary.port());
      RedisReplicaPair pair =
          new RedisReplicaPair(
              binary, primary, replica, address, FaultInjectionProxy.to(primary.port()));
      pair.follow();
      return pair;
    } catch (RuntimeException | Error e) {
      close(primary, replica, address);
      throw e;
    }
  }

  private static RedisServer server(Path binary) {
    // By default a sync waits five seconds for further replicas.
    return RedisServer.start(binary, "--repl-diskless-sync-delay", "0");
  }

  private void follow() {
    replica.ask("REPLICAOF", "127.0.0.1", Integer.toString(cable.port()));
    BoundedWait.until(
        PATIENCE, "the replica followed", () -> replica.says("master_link_status", "up"));
  }

  /** The port for clients, before and after a failover. */
  public int port() {
    return address.port();
  }

  /** {@code redis://127.0.0.1:port}. */
  public String url() {
    return "redis://127.0.0.1:" + port();
  }

  /** The server behind the address. */
  public RedisServer primary() {
    return primary;
  }

  /** Silently cuts replication from now on. */
  public void lag() {
    cable.cut();
  }

  /** Kills the primary, promotes the replica, and points the address to it. */
  public void failOver() {
    primary.kill();
    replica.ask("REPLICAOF", "NO", "ONE");
    address.lead(replica.port());
  }

  /** After a failover: starts a new replica in place of the promoted one. */
  public void addReplica() {
    cable.close();
    primary.close();
    primary = replica;
    replica = server(binary);
    cable = FaultInjectionProxy.to(primary.port());
    follow();
  }

  @Override
  public void close() {
    cable.close();
    close(primary, replica, address);
  }

  private static void close(
      RedisServer primary, @Nullable RedisServer replica, @Nullable FaultInjectionProxy address) {
    if (address != null) {
      address.close();
    }
    if (replica != null) {
      replica.close();
    }
    primary.close();
  }
}
