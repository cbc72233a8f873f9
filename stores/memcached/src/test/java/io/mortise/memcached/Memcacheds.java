package io.mortise.memcached;

import io.mortise.testkit.TestPrerequisites;
import io.mortise.testserver.MemcachedServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The servers that tests run against. */
final class Memcacheds {
  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  private static @Nullable MemcachedServer shared;

  private Memcacheds() {}

  /** One that nobody in this JVM had before. */
  static String namespace() {
    return "test" + NAMESPACES.incrementAndGet();
  }

  /** The item of a lock. */
  static String key(String namespace, String name) {
    return "mortise." + namespace + ":" + name;
  }

  /** The server that all tests of the JVM share. */
  static synchronized MemcachedServer shared() {
    MemcachedServer started = shared;
    if (started == null) {
      started = start();
      shared = started;
    }
    return started;
  }

  /** Starts one that does not evict; where there is none, the test is skipped, or on CI fails. */
  static MemcachedServer start(String... arguments) {
    List<String> all = new ArrayList<>(List.of("-M"));
    all.addAll(List.of(arguments));
    return plain(all.toArray(String[]::new));
  }

  /** The same with these arguments only. */
  static MemcachedServer plain(String... arguments) {
    return MemcachedServer.start(
        TestPrerequisites.required(MemcachedServer.installed(), "The program memcached"),
        arguments);
  }
}
