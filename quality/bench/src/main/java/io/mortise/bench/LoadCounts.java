package io.mortise.bench;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The counts of a {@link LockLoad}, or of several that ran concurrently. Not thread-safe. */
final class LoadCounts {
  private final Histogram takes = LockLoad.histogram();
  private final Histogram pairs = LockLoad.histogram();
  private final long millis;
  private long cpuNanos;
  private long total;
  private long inTime;
  private long failures;
  private @Nullable String firstFailure;

  LoadCounts(long millis, long cpuNanos) {
    this.millis = millis;
    this.cpuNanos = cpuNanos;
  }

  void count(long takeNanos, long giveNanos, boolean within) {
    total++;
    if (within) {
      inTime++;
    }
    takes.recordValue(Math.min(takeNanos, takes.getHighestTrackableValue()));
    pairs.recordValue(Math.min(takeNanos + giveNanos, pairs.getHighestTrackableValue()));
  }

  void fail(String how) {
    failures++;
    if (firstFailure == null) {
      firstFailure = how;
    }
  }

  void add(LoadCounts other) {
    takes.add(other.takes);
    pairs.add(other.pairs);
    cpuNanos += other.cpuNanos;
    total += other.total;
    inTime += other.inTime;
    failures += other.failures;
    if (firstFailure == null) {
      firstFailure = other.firstFailure;
    }
  }

  long total() {
    return total;
  }

  long failures() {
    return failures;
  }

  @Nullable String firstFailure() {
    return firstFailure;
  }

  double perSecond() {
    return inTime * 1000.0 / millis;
  }

  /** Returns the rate of events counted over all visits, per second of measured time. */
  double perSecond(long events) {
    return total == 0 ? 0 : perSecond() * events / total;
  }

  double pairMicros(double percentile) {
    return pairs.getValueAtPercentile(percentile) / 1e3;
  }

  double longestTakeMillis() {
    return takes.getMaxValue() / 1e6;
  }

  double cpuMicrosPerPair() {
    return total == 0 ? 0 : cpuNanos / 1e3 / total;
  }

  /** For another process, see {@link #decode}. */
  Map<String, Object> encode() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("takes", encode(takes));
    fields.put("pairs", encode(pairs));
    fields.put("millis", millis);
    fields.put("cpu", cpuNanos);
    fields.put("total", total);
    fields.put("inTime", inTime);
    fields.put("failures", failures);
    fields.put("failure", firstFailure == null ? "" : firstFailure);
    return fields;
  }

  static LoadCounts decode(Map<String, Object> fields) {
    LoadCounts loadCounts = new LoadCounts(number(fields, "millis"), number(fields, "cpu"));
    loadCounts.takes.add(histogram(fields, "takes"));
    loadCounts.pairs.add(histogram(fields, "pairs"));
    loadCounts.total = number(fields, "total");
    loadCounts.inTime = number(fields, "inTime");
    loadCounts.failures = number(fields, "failures");
    String failure = String.valueOf(fields.get("failure"));
    loadCounts.firstFailure = failure.isEmpty() ? null : failure;
    return loadCounts;
  }

  private static long number(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof Number number ? number.longValue() : 0;
  }

  private static String encode(Histogram histogram) {
    ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(bytes);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
  }

  private static Histogram histogram(Map<String, Object> fields, String name) {
    byte[] bytes = Base64.getDecoder().decode(String.valueOf(fields.get(name)));
    try {
      return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0);
    } catch (DataFormatException e) {
      throw new IllegalStateException("Another process sent a broken histogram.", e);
    }
  }
}
