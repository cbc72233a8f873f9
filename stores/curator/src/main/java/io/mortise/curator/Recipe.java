package io.mortise.curator;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The recipe of Curator that a store's exclusive and shared locks follow, and with it the order of
 * the children of a lock's directory. Semaphores have directories of their own and are the same in
 * both.
 *
 * <p>Curator orders children as text, by the part of their name behind the recipe's word, and a
 * mixed fleet is safe only if all clients order alike. So this matches it even for names that no
 * recipe made.
 */
enum Recipe {
  /** {@code InterProcessMutex}: the first in line holds. */
  MUTEX("lock-", null),
  /**
   * {@code InterProcessReadWriteLock}: a writer holds when it is first, a reader when no writer is
   * before it.
   */
  READ_WRITE("__WRIT__", "__READ__");

  private final String exclusive;
  private final @Nullable String shared;
  private final Pattern nodes;

  Recipe(String exclusive, @Nullable String shared) {
    this.exclusive = exclusive;
    this.shared = shared;
    String words = shared == null ? exclusive : exclusive + "|" + shared;
    this.nodes = Pattern.compile("(_c_.{36}-)?(" + words + ")-?[0-9]{10}");
  }

  /** The part of a node's name between its protection id and the sequence number. */
  String word(boolean forReading) {
    if (!forReading) {
      return exclusive;
    } else if (shared == null) {
      throw new IllegalArgumentException(this + " has no readers");
    }
    return shared;
  }

  /** Whether the node was made by this recipe, by its name. */
  boolean isMine(String child) {
    return nodes.matcher(child).matches();
  }

  /** A word for the path's use by it. */
  String use() {
    return this == MUTEX ? "a mutex (recipe=mutex)" : "a read/write lock (recipe=readwrite)";
  }

  private boolean isWriter(String child) {
    return child.contains(exclusive);
  }

  /**
   * The text that Curator compares: the part behind the recipe's word, or the whole name without
   * it.
   */
  String order(String child) {
    String order = shared == null ? child : behind(child, shared);
    return behind(order, exclusive);
  }

  private static String behind(String name, String word) {
    int at = name.lastIndexOf(word);
    return at < 0 ? name : name.substring(at + word.length());
  }

  /**
   * The other use of the directory, if its children show one: two recipes at one path do not
   * exclude each other, in Curator neither. Null if there is none.
   */
  @Nullable String misuse(List<String> children) {
    for (String child : children) {
      if (child.equals(SemaphoreNodes.LEASES)) {
        return "a semaphore";
      } else if (child.startsWith("_c_") && !isMine(child)) {
        for (Recipe other : values()) {
          if (other.isMine(child)) {
            return other.use();
          }
        }
      }
    }
    return null;
  }

  /**
   * The place of a node among the children of its directory; null if it is not among them.
   *
   * @param reading whether it is a reader's
   */
  @Nullable RecipePosition place(List<String> children, String own, boolean reading) {
    String order = order(own);
    String first = own;
    String firstOrder = order;
    String next = null;
    String nextOrder = "";
    String stranger = null;
    int ahead = 0;
    boolean found = false;
    boolean wanted = false;
    for (String child : children) {
      if (child.equals(own)) {
        found = true;
        continue;
      }
      String other = order(child);
      // A writer and the reader inside it have equal numbers. Ours never exist together.
      boolean before = other.compareTo(order) <= 0;
      boolean counts = !reading || isWriter(child);
      if (before && other.compareTo(firstOrder) < 0) {
        first = child;
        firstOrder = other;
      }
      if (before && counts) {
        ahead++;
        stranger = isMine(child) ? stranger : child;
        if (next == null || other.compareTo(nextOrder) > 0) {
          next = child;
          nextOrder = other;
        }
      }
      wanted |= !before && counts && isMine(child);
    }
    return found ? new RecipePosition(ahead, next, first, stranger, wanted) : null;
  }

  /**
   * A place in line.
   *
   * @param ahead how many have to leave before this node holds
   * @param next the last of them, the one to watch; null if there is none
   * @param first the first in line
   * @param stranger one of those ahead that no recipe made, and that may stay for ever
   * @param wanted whether a client behind cannot go on before this node leaves
   */
  record RecipePosition(
      int ahead, @Nullable String next, String first, @Nullable String stranger, boolean wanted) {
    boolean holds() {
      return ahead == 0;
    }
  }
}
