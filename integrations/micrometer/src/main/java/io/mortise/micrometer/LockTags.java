package io.mortise.micrometer;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps many names to few tags: each part of a name that holds a digit becomes {@code *}, and from
 * some number of tags on every further one becomes {@code other}. Thread-safe.
 */
final class LockTags {
  static final String OTHER = "other";

  /** How many there are by default, apart from {@link #OTHER}. */
  static final int DEFAULT_MOST = 100;

  private static final Logger log = LoggerFactory.getLogger(LockTags.class);
  private static final Pattern UUID =
      Pattern.compile("\\p{XDigit}{8}-(?:\\p{XDigit}{4}-){3}\\p{XDigit}{12}");
  private static final int UUID_LENGTH = 36;

  /** The most names whose tag is cached; further ones are computed anew each time. */
  private static final int REMEMBERED = 1_000;

  private final Function<String, String> template;
  private final int most;
  private final Map<String, String> remembered = new ConcurrentHashMap<>();
  private final Set<String> tags = ConcurrentHashMap.newKeySet();
  private final ReentrantLock guard = new ReentrantLock();

  /**
   * @param template derives a tag from a name
   * @param most how many tags there may be, apart from {@link #OTHER}
   */
  LockTags(Function<String, String> template, int most) {
    this.template = template;
    this.most = most;
  }

  String tag(String name) {
    String known = remembered.get(name);
    if (known != null) {
      return known;
    }
    String tag = admitted(template.apply(name));
    if (remembered.size() < REMEMBERED) {
      remembered.put(name, tag);
    }
    return tag;
  }

  private String admitted(String tag) {
    if (tags.contains(tag)) {
      return tag;
    }
    boolean isFirstTooMuch;
    guard.lock();
    try {
      if (tags.size() < most) {
        tags.add(tag);
        return tag;
      }
      isFirstTooMuch = tags.add(OTHER) && tags.size() == most + 1;
    } finally {
      guard.unlock();
    }
    if (isFirstTooMuch) {
      log.warn(
          "Lock names make more than {} values of tag 'lock'; '{}' and further ones count as '{}'."
              + " Give LockMetrics or LockObservations a function that makes fewer of them.",
          most,
          tag,
          OTHER);
    }
    return OTHER;
  }

  /** {@code invoice/42} becomes {@code invoice/*}, {@code job-2026-11-25} becomes {@code job-*}. */
  static String withoutIds(String name) {
    String text =
        name.length() >= UUID_LENGTH && name.indexOf('-') >= 0
            ? UUID.matcher(name).replaceAll("*")
            : name;
    StringBuilder made = new StringBuilder(text.length());
    int begin = 0;
    for (int i = 0; i <= text.length(); i++) {
      if (i == text.length() || isSeparator(text.charAt(i))) {
        append(made, text, begin, i);
        if (i < text.length()) {
          made.append(text.charAt(i));
        }
        begin = i + 1;
      }
    }
    return made.toString();
  }

  /** A constant as the value of a tag. */
  static String text(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static boolean isSeparator(char character) {
    return !Character.isLetterOrDigit(character) && character != '*';
  }

  private static void append(StringBuilder made, String text, int begin, int end) {
    for (int i = begin; i < end; i++) {
      if (text.charAt(i) == '*' || Character.isDigit(text.charAt(i))) {
        int length = made.length();
        // "2026-11-25" is one id, "2026/11" are two.
        boolean goesOn =
            length >= 2 && made.charAt(length - 2) == '*' && made.charAt(length - 1) != '/';
        if (goesOn) {
          made.setLength(length - 1);
        } else {
          made.append('*');
        }
        return;
      }
    }
    made.append(text, begin, end);
  }
}
