package io.mortise.curator;

import io.mortise.LockName;
import org.jspecify.annotations.Nullable;

/**
 * The path of a lock: {@code <base>/<name>} under the chroot, slashes included, as a user of
 * Curator would write it. Nothing is escaped, since a Curator client could not be given the same
 * path then; so a name that is no legal path is refused.
 */
final class LockPaths {
  /** First part of the paths below the base that are reserved for facts. */
  private static final String FACTS = "mortise-facts";

  private final String base;

  /**
   * Locks under a base path.
   *
   * @param base empty, or a path that begins with a slash and does not end with one
   * @throws IllegalArgumentException if it is no legal path
   */
  LockPaths(String base) {
    if (!base.isEmpty()) {
      String trouble =
          base.startsWith("/") ? trouble(base.substring(1)) : "does not begin with '/'";
      if (trouble != null) {
        throw new IllegalArgumentException(
            "The base path '" + base + "' " + trouble + ". Write it like '/apps/billing'.");
      }
    }
    this.base = base;
  }

  String base() {
    return base;
  }

  String of(LockName name) {
    return base + "/" + name.value();
  }

  /** The parent of the facts' buckets. */
  String facts() {
    return base + "/" + FACTS + "/texts";
  }

  /** The node that is written to learn the leader's time. */
  String clock() {
    return base + "/" + FACTS + "/clock";
  }

  /** Whether a path below the base, or a path below that, is reserved for facts. */
  boolean isReserved(String path) {
    return path.equals(base + "/" + FACTS);
  }

  /** The name of the lock at a path below the base. */
  LockName name(String path) {
    return LockName.of(path.substring(base.length() + 1));
  }

  /** The reason why no lock of this name is possible here; null if one is. */
  static @Nullable String refusal(LockName name) {
    if ((name.value() + "/").startsWith(FACTS + "/")) {
      return "Lock name '%s' begins with '%s', where results of 'once', latches and barriers are kept in Curator's layout. Use another name."
          .formatted(name, FACTS);
    }
    String trouble = trouble(name.value());
    return trouble == null
        ? null
        : "Lock name '"
            + name
            + "' "
            + trouble
            + ", so it is no path in ZooKeeper. In Curator's layout the name is the path below the chroot, without a"
            + " leading slash.";
  }

  /** The reason why this is no path below a root; null if it is. */
  static @Nullable String trouble(String path) {
    for (String part : path.split("/", -1)) {
      if (part.isEmpty()) {
        return "has an empty part (a slash at an end, or two in a row)";
      } else if (part.equals(".") || part.equals("..")) {
        return "has the relative part '" + part + "'";
      }
    }
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c < ' '
          || (c >= '\u007f' && c <= '\u009f')
          || (c >= '\ud800' && c <= '\uf8ff')
          || c >= '\ufff0') {
        return String.format("has the character U+%04X", path.codePointAt(i));
      }
    }
    return null;
  }
}
