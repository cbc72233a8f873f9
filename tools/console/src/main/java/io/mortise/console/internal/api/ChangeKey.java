package io.mortise.console.internal.api;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A key of an answer's content, apart from ages: two answers with the same key look the same, as
 * the page advances ages itself.
 */
final class ChangeKey {
  /** Remaining times of sessions, which jump with renewals: the page cannot predict them. */
  private static final Set<String> LEFT = Set.of("sessionLeftMillis", "leftMillis");

  private static final long COARSE_MILLIS = 3000;

  /** Fields that grow with time. */
  private static final Set<String> AGING = Set.of("used", "first", "last", "seq");

  private final StringBuilder key = new StringBuilder();

  private ChangeKey() {}

  static String of(@Nullable Object json, long now) {
    ChangeKey changeKey = new ChangeKey();
    changeKey.add(json, now);
    return changeKey.key.toString();
  }

  private void add(@Nullable Object json, long asOf) {
    if (json instanceof Map<?, ?> map) {
      Object own = map.get("asOfAt");
      long at = own instanceof Number number ? number.longValue() : asOf;
      key.append('{');
      map.forEach((name, value) -> add(String.valueOf(name), value, at));
      key.append('}');
    } else if (json instanceof List<?> list) {
      key.append('[');
      list.forEach(value -> add(value, asOf));
      key.append(']');
    } else {
      key.append(json).append(',');
    }
  }

  private void add(String name, @Nullable Object value, long asOf) {
    if (LEFT.contains(name) && value instanceof Number left) {
      key.append(left.longValue() == 0 ? 0 : (asOf + left.longValue()) / COARSE_MILLIS).append(',');
    } else if (value instanceof Map || value instanceof List) {
      key.append(name);
      add(value, asOf);
    } else if (!name.endsWith("Millis") && !name.endsWith("At") && !isAging(name, value)) {
      key.append(name).append('=').append(value).append(',');
    }
  }

  private static boolean isAging(String name, @Nullable Object value) {
    return AGING.contains(name) && value instanceof Number;
  }
}
