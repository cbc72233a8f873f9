package io.mortise.internal.queue;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that drops its eldest entry when it has too many. Not thread-safe.
 *
 * @param <K> a key
 * @param <V> a value
 */
public final class BoundedMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1;

  private final int most;

  /** A map of the entries whose keys were added last. */
  public BoundedMap(int most) {
    this(most, false);
  }

  private BoundedMap(int most, boolean byUse) {
    super(16, 0.75f, byUse);
    this.most = most;
  }

  /** A map of the entries that were written or read last. */
  public static <K, V> BoundedMap<K, V> ofLastUsed(int most) {
    return new BoundedMap<>(most, true);
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > most;
  }
}
