package io.mortise.field;

import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Resources that the clients of this JVM keep.
 *
 * @param threads live ones
 * @param connections through a relay
 * @param bytes of all objects that survive a full collection, without int arrays, with which the
 *     collector fills gaps
 * @param objects of the library that survive it, by class
 * @param keys or rows at the server
 */
record Footprint(long threads, long connections, long bytes, Map<String, Long> objects, long keys) {
  /** Greater than the growth of caches of the JVM and of drivers. */
  static final long MOST_BYTES = 1_000_000;

  /** Objects of one class; greater than the number of requests in flight. */
  static final long MOST_OBJECTS = 100;

  static final long MOST_KEYS = 20;

  /** Each of two clients may reopen a thread or connection late after a break. */
  private static final long LATE = 2;

  private static final Pattern CLASS = Pattern.compile(" *\\d+: +(\\d+) +(\\d+) +(\\S+).*");

  /** The collector fills gaps with a varying number of such arrays. */
  private static final Set<String> FILLERS = Set.of("[I", "[Ljdk.internal.vm.FillerElement;");

  /** Takes a reading, after a full collection. */
  static Footprint now(FaultInjectionProxy relay, long keys) {
    long bytes = 0;
    Map<String, Long> objects = new HashMap<>();
    for (String line : histogram().split("\n", -1)) {
      Matcher ofClass = CLASS.matcher(line);
      if (ofClass.matches() && !FILLERS.contains(ofClass.group(3))) {
        bytes += Long.parseLong(ofClass.group(2));
        if (isOfLibrary(ofClass.group(3))) {
          objects.put(ofClass.group(3), Long.parseLong(ofClass.group(1)));
        }
      }
    }
    return new Footprint(liveThreads(), relay.connections(), bytes, objects, keys);
  }

  /** Takes a reading each second until three in a row are no lower, and returns the lowest. */
  static Footprint settled(Supplier<Footprint> reading) {
    Footprint least = reading.get();
    int same = 0;
    for (int i = 0; i < 20 && same < 3; i++) {
      BoundedWait.pass(Duration.ofSeconds(1));
      Footprint next = reading.get();
      same = least.isAbove(next) ? 0 : same + 1;
      least = least.least(next);
    }
    return least;
  }

  private static boolean isOfLibrary(String name) {
    return name.startsWith("io.mortise.")
        && Stream.of("field.", "testkit.").noneMatch(part -> name.startsWith(part, 11));
  }

  /** Counts live threads, except those of relays and of the JVM. */
  private static long liveThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(
            name ->
                Stream.of("relay", "ForkJoinPool", "CompletableFuture", "process reaper", "Attach")
                    .noneMatch(name::startsWith))
        .count();
  }

  private static String histogram() {
    try {
      return (String)
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
    } catch (JMException e) {
      throw new AssertionError(e);
    }
  }

  /** The lower figure of each kind: the excess of the other reading was in flight. */
  Footprint least(Footprint other) {
    Map<String, Long> fewer = new HashMap<>(objects);
    fewer.replaceAll((name, count) -> Math.min(count, other.objects.getOrDefault(name, 0L)));
    return new Footprint(
        Math.min(threads, other.threads),
        Math.min(connections, other.connections),
        Math.min(bytes, other.bytes),
        fewer,
        Math.min(keys, other.keys));
  }

  /** Whether another reading is lower by more than the noise of one. */
  boolean isAbove(Footprint other) {
    return threads > other.threads
        || connections > other.connections
        || bytes > other.bytes + MOST_BYTES / 50
        || keys > other.keys;
  }

  /** Growth beyond the bounds, a line for each kind; empty if there is none. */
  List<String> growthSince(Footprint before) {
    List<String> growth = new ArrayList<>();
    note(growth, "threads", before.threads, threads, LATE);
    note(growth, "connections", before.connections, connections, LATE);
    note(growth, "bytes", before.bytes, bytes, MOST_BYTES);
    note(growth, "keys", before.keys, keys, MOST_KEYS);
    objects.forEach(
        (name, count) ->
            note(growth, name, before.objects.getOrDefault(name, 0L), count, MOST_OBJECTS));
    return growth;
  }

  private static void note(List<String> growth, String kind, long from, long to, long most) {
    if (to > from + most) {
      growth.add("%s: %d, then %d".formatted(kind, from, to));
    }
  }

  @Override
  public String toString() {
    return "%d threads, %d connections, %d bytes, %d keys"
        .formatted(threads, connections, bytes, keys);
  }
}
