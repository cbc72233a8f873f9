package io.mortise.torture.hazards;

import io.mortise.LockClient;
import io.mortise.testserver.EtcdServer;
import io.mortise.testserver.EtcdServer.EtcdCluster;
import io.mortise.testserver.MemcachedServer;
import io.mortise.testserver.MemcachedServer.RawMemcachedConnection;
import io.mortise.testserver.RedisReplicaPair;
import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where a story is played: tells what happens as a timeline, and at the end closes what was opened,
 * the last first. For one thread, but for {@link #say}.
 */
public final class HazardContext implements AutoCloseable {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

  private final PrintStream out;
  private final @Nullable String store;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private long began = System.nanoTime();

  /**
   * An empty stage.
   *
   * @param out where the timeline goes
   * @param store URL of a store on which to play Mortise's half; null for one that the story starts
   */
  public HazardContext(PrintStream out, @Nullable String store) {
    this.out = out;
    this.store = store;
  }

  /** A half of the story begins, and its clock. */
  void chapter(String title) {
    out.println();
    out.println(title);
    began = System.nanoTime();
  }

  /** Somebody does something. */
  synchronized void say(String who, String what) {
    out.printf(Locale.ROOT, "  %6.2f s  %-9s %s%n", seconds(), who, what);
    out.flush();
  }

  /** How long this chapter has gone on. */
  double seconds() {
    return (System.nanoTime() - began) / 1e9;
  }

  /** How a chapter ended. */
  void conclude(String what) {
    out.println("  => " + what);
  }

  /**
   * What must be so for the story to be true.
   *
   * @param clause what should have happened
   */
  void expect(boolean happened, String clause) {
    if (!happened) {
      throw new UnexpectedOutcomeException(clause);
    }
  }

  /** Waits for something that has to happen. */
  void await(String clause, BooleanSupplier happened) {
    long end = System.nanoTime() + LONGEST_WAIT.toNanos();
    while (!happened.getAsBoolean()) {
      expect(System.nanoTime() < end, clause);
      pass(Duration.ofMillis(5));
    }
  }

  /** Lets time pass. */
  void pass(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** Closed with the stage. */
  <T extends AutoCloseable> T open(T resource) {
    opened.push(resource);
    return resource;
  }

  /** Closes something now. */
  void close(AutoCloseable resource) throws Exception {
    opened.remove(resource);
    resource.close();
  }

  /** A Redis server of its own. */
  RedisServer redis(String... arguments) {
    return open(RedisServer.start(redisProgram(), arguments));
  }

  /** A Redis server and its replica, behind one address. */
  RedisReplicaPair redisPair() {
    return open(RedisReplicaPair.start(redisProgram()));
  }

  /** Three members of etcd. */
  EtcdCluster etcdCluster() {
    return open(
        EtcdCluster.start(
            EtcdServer.installed()
                .orElseThrow(() -> new MissingProgramException("etcd 3.4 or later"))));
  }

  /** A memcached of its own, with little memory, which does not evict. */
  MemcachedServer memcached() {
    return open(
        MemcachedServer.start(
            MemcachedServer.installed()
                .orElseThrow(() -> new MissingProgramException("memcached 1.6 or later")),
            "-M",
            "-m",
            "2"));
  }

  /** A connection that sends what a naive lock sends, and what a cache does. */
  RawMemcachedConnection connect(MemcachedServer server) {
    return open(new RawMemcachedConnection(server.port()));
  }

  private static Path redisProgram() {
    return RedisServer.installed(6)
        .orElseThrow(() -> new MissingProgramException("redis-server 6.2 or later"));
  }

  /** A connection that sends what a naive lock sends. */
  RedisConnection connect(int port) {
    try {
      return open(new RedisConnection(port));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The user's store, or the one that the story has started. */
  String storeOr(String own) {
    return store == null ? own : store;
  }

  /** A client, as a process of its own has one. */
  LockClient client(String url, String name, Duration ttl) {
    return open(LockClient.builder().url(url).name(name).ttl(ttl).build());
  }

  @Override
  public void close() {
    RuntimeException trouble = null;
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        if (trouble == null) {
          trouble = new IllegalStateException("Something of the story could not be closed.", e);
        } else {
          trouble.addSuppressed(e);
        }
      }
    }
    if (trouble != null) {
      throw trouble;
    }
  }
}
