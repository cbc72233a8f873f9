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
 * The context of a story: prints a timeline, and closes opened resources at the end, the last
 * first. For one thread, except for {@link #say}.
 */
public final class HazardContext implements AutoCloseable {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

  private final PrintStream out;
  private final @Nullable String store;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private long began = System.nanoTime();

  /**
   * Creates a context without resources.
   *
   * @param out for the timeline
   * @param store the URL of a store for Mortise's half; null for one started by the story
   */
  public HazardContext(PrintStream out, @Nullable String store) {
    this.out = out;
    this.store = store;
  }

  /** Begins a half of the story, and restarts its clock. */
  void chapter(String title) {
    out.println();
    out.println(title);
    began = System.nanoTime();
  }

  /** Prints an action of a participant. */
  synchronized void say(String who, String what) {
    out.printf(Locale.ROOT, "  %6.2f s  %-9s %s%n", seconds(), who, what);
    out.flush();
  }

  /** The seconds since the begin of this chapter. */
  double seconds() {
    return (System.nanoTime() - began) / 1e9;
  }

  /** Prints the end of a chapter. */
  void conclude(String what) {
    out.println("  => " + what);
  }

  /**
   * Checks an expectation of the story.
   *
   * @param clause the expectation
   */
  void expect(boolean happened, String clause) {
    if (!happened) {
      throw new UnexpectedOutcomeException(clause);
    }
  }

  /** Waits for an expected event. */
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

  /** Registers a resource to be closed with this context. */
  <T extends AutoCloseable> T open(T resource) {
    opened.push(resource);
    return resource;
  }

  /** Closes a resource now. */
  void close(AutoCloseable resource) throws Exception {
    opened.remove(resource);
    resource.close();
  }

  /** Starts a Redis server. */
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

  /** Starts a memcached with little memory, which does not evict. */
  MemcachedServer memcached() {
    return open(
        MemcachedServer.start(
            MemcachedServer.installed()
                .orElseThrow(() -> new MissingProgramException("memcached 1.6 or later")),
            "-M",
            "-m",
            "2"));
  }

  /** Opens a connection for a naive lock and for a cache. */
  RawMemcachedConnection connect(MemcachedServer server) {
    return open(new RawMemcachedConnection(server.port()));
  }

  private static Path redisProgram() {
    return RedisServer.installed(6)
        .orElseThrow(() -> new MissingProgramException("redis-server 6.2 or later"));
  }

  /** Opens a connection for a naive lock. */
  RedisConnection connect(int port) {
    try {
      return open(new RedisConnection(port));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The user's store, or the one started by the story. */
  String storeOr(String own) {
    return store == null ? own : store;
  }

  /** Opens a client, like that of another process. */
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
