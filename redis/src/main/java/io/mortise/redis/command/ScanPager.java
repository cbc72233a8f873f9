package io.mortise.redis.command;

import io.mortise.spi.LockQuery;
import io.mortise.spi.LockView;
import io.mortise.spi.LockViewPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Shows the locks whose keys a SCAN finds, in pages. Each lock is a snapshot of its own; a lock
 * that is there all the time is found, perhaps twice.
 */
public final class ScanPager {
  /** How many keys one SCAN looks at. */
  public static final int KEYS_PER_SCAN = 500;

  /** SCANs of one page at most, for a server that holds millions of other keys. */
  public static final int ROUNDS = 200;

  private final Function<String, CompletionStage<FoundKeys>> scan;
  private final Function<String, CompletionStage<Optional<LockView>>> view;

  /**
   * For one query.
   *
   * @param scan does one SCAN from a cursor on
   * @param view looks at the lock behind a key; empty for a key that is not to be shown
   */
  public ScanPager(
      Function<String, CompletionStage<FoundKeys>> scan,
      Function<String, CompletionStage<Optional<LockView>>> view) {
    this.scan = scan;
    this.view = view;
  }

  /** Keys found, and where to go on; "0" at the end. */
  public record FoundKeys(String cursor, List<String> keys) {
    /** The words of one SCAN. */
    public static String[] command(String cursor, String pattern, int count) {
      return new String[] {"SCAN", cursor, "MATCH", pattern, "COUNT", Integer.toString(count)};
    }

    /** What a SCAN was answered with. */
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

  /** A cursor of ours: that of a SCAN, and how many of its keys were shown already. */
  private record ScanPosition(String cursor, int shown) {
    static final ScanPosition START = new ScanPosition("0", 0);

    static Optional<ScanPosition> parse(String text) {
      if (!text.matches("\\d{1,20}/\\d{1,9}")) {
        return Optional.empty();
      }
      int slash = text.indexOf('/');
      return Optional.of(
          new ScanPosition(text.substring(0, slash), Integer.parseInt(text.substring(slash + 1))));
    }

    @Override
    public String toString() {
      return cursor + "/" + shown;
    }
  }

  /** The page of a query for all locks. */
  public CompletionStage<LockViewPage> page(LockQuery query) {
    String cursor = query.cursor();
    Optional<ScanPosition> from =
        cursor == null ? Optional.of(ScanPosition.START) : ScanPosition.parse(cursor);
    return from.isPresent()
        ? page(query.limit(), from.get(), new ArrayList<>(), 0)
        : CompletableFuture.failedFuture(
            new IllegalArgumentException("'" + cursor + "' is not a cursor of this store."));
  }

  private CompletionStage<LockViewPage> page(
      int limit, ScanPosition from, List<LockView> views, int round) {
    return scan.apply(from.cursor())
        .thenCompose(
            found -> {
              int size = found.keys().size();
              int begin = Math.min(from.shown(), size);
              // Busy locks are few among the idle: ask for no more than can be shown.
              int end = Math.min(size, begin + limit - views.size());
              ScanPosition next =
                  end < size
                      ? new ScanPosition(from.cursor(), end)
                      : new ScanPosition(found.cursor(), 0);
              return all(found.keys().subList(begin, end))
                  .thenCompose(
                      seen -> {
                        views.addAll(seen);
                        boolean last = next.equals(ScanPosition.START);
                        if (last || views.size() == limit || round == ROUNDS) {
                          return CompletableFuture.completedFuture(
                              new LockViewPage(views, last ? null : next.toString()));
                        }
                        return page(limit, next, views, round + 1);
                      });
            });
  }

  private CompletionStage<List<LockView>> all(List<String> keys) {
    CompletableFuture<List<LockView>> views = CompletableFuture.completedFuture(new ArrayList<>());
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
