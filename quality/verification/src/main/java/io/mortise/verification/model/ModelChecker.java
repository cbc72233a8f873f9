package io.mortise.verification.model;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Goes through all states that a {@link Model} can reach, the near ones first, until all are known
 * or one is broken. The run that leads to a broken state is then a shortest one.
 *
 * <p>A verdict of safe is a proof for the model as it is, with its so many clients and members, and
 * for nothing larger. What it is worth is shown by variants of the model that must be found broken.
 */
public final class ModelChecker {
  private ModelChecker() {}

  /** What came of it. */
  public enum ModelVerdict {
    /** Every state was looked at, and none is broken. */
    SAFE,
    /** None of those looked at is broken, but there are more. */
    NOT_EXHAUSTED,
    /** One is broken. */
    BROKEN
  }

  /**
   * A verdict, and how it came about.
   *
   * @param states how many different states were seen
   * @param depth how many steps the farthest of them is away
   * @param fault what is wrong; null unless broken
   * @param run the steps that lead there; empty unless broken
   */
  public record Result(
      ModelVerdict verdict,
      int states,
      int depth,
      Duration took,
      @Nullable String fault,
      List<String> run) {
    @Override
    public String toString() {
      StringBuilder text = new StringBuilder();
      text.append(
          String.format(
              Locale.ROOT,
              "%s: %,d states, %s steps deep, %.1f s",
              verdict,
              states,
              depth,
              took.toMillis() / 1000.0));
      if (fault != null) {
        text.append("\n  ").append(fault).append(", after ").append(run.size()).append(" steps:");
        run.forEach(step -> text.append("\n    ").append(step));
      }
      return text.toString();
    }
  }

  /**
   * Checks a model. Takes some 80 bytes for each state, beside what the state itself takes.
   *
   * @param mostStates give up when there are more
   */
  public static <S> Result check(Model<S> model, int mostStates) {
    return new Search<>(model, mostStates).run();
  }

  /** The states in the order in which they were found, and a hash table of their places. */
  private static final class Search<S> {
    private final Model<S> model;
    private final int most;
    private final long began = System.nanoTime();
    private Object[] states = new Object[1 << 12];
    private int[] from = new int[1 << 12];
    private int[] table = new int[1 << 13];
    private int count;
    private int depth;
    private int endOfLevel = 1;
    private int broken = -1;
    private @Nullable String fault;

    Search(Model<S> model, int most) {
      this.model = model;
      this.most = most;
      Arrays.fill(table, -1);
    }

    Result run() {
      found(model.initial(), -1);
      for (int at = 0; at < count && broken < 0 && count <= most; at++) {
        if (at == endOfLevel) {
          depth++;
          endOfLevel = count;
        }
        int here = at;
        model.next(state(at), (label, next) -> found(next, here));
      }
      ModelVerdict verdict =
          broken >= 0
              ? ModelVerdict.BROKEN
              : count > most ? ModelVerdict.NOT_EXHAUSTED : ModelVerdict.SAFE;
      return new Result(
          verdict,
          count,
          depth,
          Duration.ofNanos(System.nanoTime() - began),
          fault,
          broken >= 0 ? pathTo(broken) : List.of());
    }

    @SuppressWarnings("unchecked") // only states were put there
    private S state(int index) {
      return (S) Objects.requireNonNull(states[index]);
    }

    private void found(S state, int parent) {
      if (broken >= 0) {
        return;
      }
      int slot = slot(state);
      if (table[slot] >= 0) {
        return;
      }
      if (count == states.length) {
        states = Arrays.copyOf(states, count * 2);
        from = Arrays.copyOf(from, count * 2);
      }
      states[count] = state;
      from[count] = parent;
      table[slot] = count;
      fault = model.broken(state);
      if (fault != null) {
        broken = count;
      }
      count++;
      if (count * 2L > table.length) {
        grow();
      }
    }

    private int slot(S state) {
      int mask = table.length - 1;
      int slot = spread(state) & mask;
      while (table[slot] >= 0 && !state.equals(states[table[slot]])) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }

    private static int spread(Object state) {
      int hash = state.hashCode() * 0x9E3779B9;
      return hash ^ hash >>> 15;
    }

    private void grow() {
      table = new int[table.length * 2];
      Arrays.fill(table, -1);
      for (int i = 0; i < count; i++) {
        table[slot(state(i))] = i;
      }
    }

    /** Labels are not kept: the steps are made once more, and the one that fits is named. */
    private List<String> pathTo(int last) {
      ArrayDeque<Integer> way = new ArrayDeque<>();
      for (int at = last; at >= 0; at = from[at]) {
        way.addFirst(at);
      }
      List<String> labels = new ArrayList<>();
      int before = -1;
      for (int at : way) {
        if (before >= 0) {
          S wanted = state(at);
          String[] label = new String[1];
          model.next(
              state(before),
              (name, next) -> label[0] = label[0] == null && next.equals(wanted) ? name : label[0]);
          labels.add(String.valueOf(label[0]));
        }
        before = at;
      }
      return labels;
    }
  }
}
