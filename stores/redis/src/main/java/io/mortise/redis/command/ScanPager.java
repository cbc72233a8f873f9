package io.mortise.redis.command;

import io.mortise.admin.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lists the entries behind the keys of a SCAN, in pages. Each page is a snapshot of its own. An
 * entry that exists all the time is found, perhaps twice.
 *
 * @param <T> the entry of a key
 */
public final class ScanPager<T> {
  /** How many keys one SCAN looks at. */
  public static final int KEYS_PER_SCAN = 500;

  /** The most SCANs for one page, for a server that holds millions of foreign keys. */
  public static final int ROUNDS = 200;

  /** How many keys one SCAN looks at if reading the entries costs little. */
  private static final int MOST_PER_SCAN = 1000;

  private static final Pattern POSITION =
      Pattern.compile("(\\d{1,20})/(\\d{1,4})/(\\d{1,9})/([0-9a-f]{1,8})");

  private final ScanCommand scan;
  private final Function<List<String>, CompletionStage<List<T>>> look;
  private final boolean wholeScans;

  private ScanPager(
      ScanCommand scan, Function<List<String>, CompletionStage<List<T>>> look, boolean wholeScans) {
    this.scan = scan;
    this.look = look;
    this.wholeScans = wholeScans;
  }

  /** Runs one SCAN from a cursor on, over about that many keys. */
  public interface ScanCommand {
    CompletionStage<FoundKeys> scan(String cursor, int count);
  }

  /**
   * Fills pages where possible, and reads no more keys than it lists.
   *
   * @param view reads a key's entry; empty for a key that is not listed
   */
  public static <T> ScanPager<T> filling(
      ScanCommand scan, Function<String, CompletionStage<Optional<T>>> view) {
    return new ScanPager<>(scan, keys -> all(keys, view), false);
  }

  /**
   * Ends pages with a SCAN, mostly, so that no SCAN is repeated.
   *
   * @param look reads the entries of keys together; leaves out keys that are not listed
   */
  public static <T> ScanPager<T> byScans(
      ScanCommand scan, Function<List<String>, CompletionStage<List<T>>> look) {
    return new ScanPager<>(scan, look, true);
  }

  /**
   * Keys found, and the next cursor; "0" at the end. The keys are sorted: a server that resizes its
   * table, as Valkey 8.1 often does, answers the same SCAN in another order.
   */
  public record FoundKeys(String cursor, List<String> keys) {
    public FoundKeys {
      keys = keys.stream().sorted().toList();
    }

    /** The words of one SCAN. */
    public static String[] command(String cursor, String pattern, int count) {
      return new String[] {"SCAN", cursor, "MATCH", pattern, "COUNT", Integer.toString(count)};
    }

    /** Parses the answer to a SCAN. */
    public static FoundKeys parse(@Nullable Object answer) {
      if (answer instanceof List<?> parts
          && parts.size() == 2
          && parts.get(1) instanceof List<?> found) {
        return new FoundKeys(
            String.valueOf(parts.get(0)), found.stream().map(String::valueOf).toList());
      }
      throw new IllegalStateException("SCAN was answered in another form.");
    }
  }

  /**
   * A cursor of ours: that of a SCAN, and the part of its answer that was already listed.
   *
   * @param count of keys that the SCAN should look at; 0 for as many as suit the page
   * @param shown how many keys of its answer were listed
   * @param shownHash of these keys, in their order
   */
  private record ScanPosition(String cursor, int count, int shown, int shownHash) {
    static final ScanPosition START = at("0");

    static ScanPosition at(String cursor) {
      return new ScanPosition(cursor, 0, 0, 0);
    }

    static Optional<ScanPosition> parse(String text) {
      Matcher parts = POSITION.matcher(text);
      return parts.matches() && Integer.parseInt(parts.group(2)) <= MOST_PER_SCAN
          ? Optional.of(
              new ScanPosition(
                  parts.group(1),
                  Integer.parseInt(parts.group(2)),
                  Integer.parseInt(parts.group(3)),
                  Integer.parseUnsignedInt(parts.group(4), 16)))
          : Optional.empty();
    }

    /** The position after that many keys of an answer to this SCAN. */
    ScanPosition after(List<String> keys, int count, int end) {
      return new ScanPosition(cursor, count, end, keys.subList(0, end).hashCode());
    }

    /**
     * Whether the keys of an answer begin with those already listed. If not, keys were added or
     * removed, or the server has moved them into or out of this part of its table. Then none may be
     * skipped.
     */
    boolean continues(List<String> keys) {
      return shown <= keys.size() && keys.subList(0, shown).hashCode() == shownHash;
    }

    @Override
    public String toString() {
      return "%s/%s/%s/%x".formatted(cursor, count, shown, shownHash);
    }
  }

  /** The page that begins at a cursor, or null; fails if it is not one of ours. */
  public CompletionStage<Page<T>> page(@Nullable String cursor, int limit) {
    Optional<ScanPosition> from =
        cursor == null ? Optional.of(ScanPosition.START) : ScanPosition.parse(cursor);
    return from.isPresent()
        ? page(limit, from.get(), new ArrayList<>(), 0)
        : CompletableFuture.failedFuture(
            new IllegalArgumentException("'" + cursor + "' is not a cursor of this store."));
  }

  private CompletionStage<Page<T>> page(int limit, ScanPosition from, List<T> items, int round) {
    int room = limit - items.size();
    int count = from.count() > 0 ? from.count() : count(room, round);
    return scan.scan(from.cursor(), count)
        .thenCompose(
            found -> {
              List<String> keys = found.keys();
              if (from.shown() > 0 && !from.continues(keys)) {
                // Scan again with so low a count that all keys fit: the next page continues after
                // them.
                int few = Math.max(1, room / 2);
                return page(limit, new ScanPosition(from.cursor(), few, 0, 0), items, round + 1);
              }
              // Few idle locks are busy, so read no more than can be listed.
              int end = Math.min(keys.size(), from.shown() + room);
              ScanPosition next =
                  end < keys.size()
                      ? from.after(keys, count, end)
                      : ScanPosition.at(found.cursor());
              return look.apply(keys.subList(from.shown(), end))
                  .thenCompose(
                      seen -> {
                        items.addAll(seen);
                        boolean last = next.equals(ScanPosition.START);
                        if (last || isFull(limit, items.size()) || round >= ROUNDS) {
                          return CompletableFuture.completedFuture(
                              new Page<>(items, last ? null : next.toString()));
                        }
                        return page(limit, next, items, round + 1);
                      });
            });
  }

  /**
   * A SCAN finds a few keys more than its count, and keys without room would be found again. If the
   * first SCAN finds little, the next ones look further.
   */
  private int count(int room, int round) {
    if (!wholeScans) {
      return KEYS_PER_SCAN;
    }
    long count = Math.max(10, room * 9L / 10) << Math.min(round, 7);
    return (int) Math.min(MOST_PER_SCAN, count);
  }

  private boolean isFull(int limit, int size) {
    return size >= (wholeScans ? (limit + 1) / 2 : limit);
  }

  private static <T> CompletionStage<List<T>> all(
      List<String> keys, Function<String, CompletionStage<Optional<T>>> view) {
    CompletableFuture<List<T>> views = CompletableFuture.completedFuture(new ArrayList<>());
    for (String key : keys) {
      views =
          views.thenCombine(
              view.apply(key),
              (list, seen) -> {
                seen.ifPresent(list::add);
                return list;
              });
    }
    return views;
  }
}
