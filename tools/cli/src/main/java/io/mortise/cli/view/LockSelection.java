package io.mortise.cli.view;

import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.console.observer.Trouble;
import io.mortise.console.view.LockFormatter;
import io.mortise.console.view.LockFormatter.Condition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/**
 * A selection of locks, with their order.
 *
 * @param prefix the prefix of their names
 * @param states the states to include; all locks in use if empty
 * @param limit the most locks to return
 */
public record LockSelection(String prefix, Set<StateFilter> states, SortOrder order, int limit) {
  /** The lock of {@code mortise doctor}; shown only if selected by name. */
  public static final String OF_DOCTOR = "mortise-doctor";

  /**
   * The surplus of locks before the last ones are dropped, so that a million locks need little
   * memory.
   */
  private static final int SLACK = 1000;

  /** The state of a lock. */
  public enum StateFilter {
    HELD,
    WAITED,
    GONE,
    SHUT,
    FREE;

    private boolean matches(LockInfo lock) {
      Condition condition = LockFormatter.condition(lock);
      return switch (this) {
        case HELD -> condition == Condition.HELD;
        case WAITED -> !lock.waiters().isEmpty();
        case GONE -> condition == Condition.GONE;
        case SHUT -> !lock.shutFor().isZero();
        case FREE -> condition == Condition.FREE;
      };
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The order of locks. */
  public enum SortOrder {
    NAME,
    HELD,
    WAITING,
    TROUBLE;

    private Comparator<LockInfo> comparator() {
      Comparator<LockInfo> first =
          switch (this) {
            case NAME -> Comparator.comparing(LockInfo::name);
            case HELD -> longestFirst(LockSelection::held);
            case WAITING -> Comparator.comparingInt(lock -> -lock.waiterCount());
            case TROUBLE ->
                Comparator.comparingInt(LockSelection::rank)
                    .thenComparing(longestFirst(LockSelection::waited))
                    .thenComparing(longestFirst(LockSelection::held));
          };
      return first.thenComparing(LockInfo::name);
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The result of a selection.
   *
   * @param locks in order
   * @param found the number of matches, regardless of the limit
   * @param silent the number of omitted locks that {@linkplain LockFormatter#looksGone look gone}
   */
  public record Selected(List<LockInfo> locks, int found, int silent) {}

  /** Inspects all locks. Blocks. */
  public Selected from(LockAdmin admin) {
    List<LockInfo> kept = new ArrayList<>();
    int found = 0;
    int silent = 0;
    LockQuery query = LockQuery.beginningWith(prefix);
    query = states.contains(StateFilter.FREE) ? query.withIdle() : query;
    String next = null;
    do {
      Page<LockInfo> page = admin.list(query.page(next, LockAdmin.MAX_PAGE));
      for (LockInfo lock : page.items()) {
        if (isWanted(lock)) {
          kept.add(lock);
          found++;
        } else if (LockFormatter.looksGone(lock)) {
          silent++;
        }
      }
      if (kept.size() - SLACK > limit) {
        cut(kept);
      }
      next = page.next();
    } while (next != null);
    cut(kept);
    return new Selected(kept, found, silent);
  }

  private boolean isWanted(LockInfo lock) {
    return (states.isEmpty() || states.stream().anyMatch(state -> state.matches(lock)))
        && (prefix.startsWith(OF_DOCTOR) || !lock.name().startsWith(OF_DOCTOR));
  }

  private void cut(List<LockInfo> kept) {
    kept.sort(order.comparator());
    if (kept.size() > limit) {
      kept.subList(limit, kept.size()).clear();
    }
  }

  private static Comparator<LockInfo> longestFirst(Function<LockInfo, Duration> time) {
    return Comparator.comparing(time).reversed();
  }

  /** The rank as on the observing screens, without criteria that need several looks. */
  private static int rank(LockInfo lock) {
    if (LockFormatter.looksGone(lock)) {
      return Trouble.GONE.rank();
    }
    if (!lock.waiters().isEmpty()) {
      return Trouble.WAITED.rank();
    }
    return lock.shutFor().isZero() ? Trouble.NO_RANK : Trouble.SHUT.rank();
  }

  private static Duration held(LockInfo lock) {
    return longest(lock.holders());
  }

  private static Duration waited(LockInfo lock) {
    return longest(lock.waiters());
  }

  private static Duration longest(List<LockParticipant> parties) {
    return parties.stream()
        .map(LockParticipant::since)
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }
}
