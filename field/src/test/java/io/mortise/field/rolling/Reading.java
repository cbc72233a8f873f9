package io.mortise.field.rolling;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the oldest instance and the servers keep at one moment.
 *
 * @param figures by what they count
 */
record Reading(Map<String, Long> figures) {
  private static final Pattern TOTAL = Pattern.compile("Total\\s+\\d+\\s+(\\d+)");

  /**
   * More than this is growth: what is in flight, and what one time more or less of an end costs.
   */
  private static final Map<String, Long> SLACK =
      Map.of(
          "threads", 8L,
          "descriptors", 12L,
          "heap kB", 6_000L,
          "records of the store", 200L,
          "connections of the store", 6L);

  /** Takes one. Blocks for a collection of the instance's garbage. */
  static Reading take(HostProcess instance, LockServers servers)
      throws IOException, InterruptedException {
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("threads", instance.threads());
    figures.put("descriptors", instance.descriptors());
    figures.put("heap kB", liveHeap(instance) / 1000);
    figures.put("records of the store", servers.records());
    figures.put("connections of the store", servers.connections());
    return new Reading(figures);
  }

  private static long liveHeap(HostProcess instance) throws IOException, InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      Process histogram =
          new ProcessBuilder("jcmd", Long.toString(instance.pid()), "GC.class_histogram").start();
      String text = new String(histogram.getInputStream().readAllBytes(), US_ASCII);
      histogram.waitFor();
      Matcher total = TOTAL.matcher(text);
      if (!total.find()) {
        throw new IllegalStateException("jcmd tells no total: " + text);
      }
      least = Math.min(least, Long.parseLong(total.group(1)));
    }
    return least;
  }

  /** What has grown since another one, as sentences. */
  List<String> growthSince(Reading first) {
    List<String> grown = new ArrayList<>();
    figures.forEach(
        (what, now) -> {
          long before = first.figures.getOrDefault(what, 0L);
          if (now - before > SLACK.getOrDefault(what, 0L)) {
            grown.add(what + " grew from " + before + " to " + now);
          }
        });
    return grown;
  }
}
