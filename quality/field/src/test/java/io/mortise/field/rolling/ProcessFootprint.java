package io.mortise.field.rolling;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resources of the oldest instance and of the servers at one moment.
 *
 * @param figures by name
 */
record ProcessFootprint(Map<String, Long> figures) {
  private static final Pattern TOTAL = Pattern.compile("Total\\s+\\d+\\s+(\\d+)");

  /** A larger increase is growth. Requests and closes in flight are fewer. */
  private static final Map<String, Long> SLACK =
      Map.of(
          "threads", 8L,
          "descriptors", 12L,
          "heap kB", 6_000L,
          "records of the store", 60L,
          "connections of the store", 6L);

  /** Takes a footprint. Blocks for a garbage collection of the instance. */
  static ProcessFootprint take(HostProcess instance, LockServers servers)
      throws IOException, InterruptedException {
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("threads", instance.threads());
    figures.put("descriptors", instance.descriptors());
    figures.put("heap kB", liveHeap(instance) / 1000);
    figures.put("records of the store", servers.records());
    figures.put("connections of the store", servers.connections());
    return new ProcessFootprint(figures);
  }

  private static long liveHeap(HostProcess instance) throws IOException, InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      Process histogram =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                  Long.toString(instance.pid()),
                  "GC.class_histogram")
              .start();
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

  /** Sentences about figures that have grown since an earlier footprint. */
  List<String> growthSince(ProcessFootprint first) {
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
