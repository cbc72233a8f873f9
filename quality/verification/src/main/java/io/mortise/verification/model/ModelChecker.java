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
 * Searches all reachable states of a {@link Model} breadth first, until all are known or one is
 * broken. The run to a broken state is hence a shortest one.
 *
 * <p>A verdict of safe is a proof for the model with its numbers of clients and members only.
 * Variants of the model that must be found broken show the worth of the proof.
 */
public final class ModelChecker {
  private ModelChecker() {}

  /** The result of a check. */
  public enum ModelVerdict {
    /** Every state was checked; none is broken. */
    SAFE,
    /** No checked state is broken, but there are more states. */
    NOT_EXHAUSTED,
    /** A state is broken. */
    BROKEN
  }

  /**
   * A verdict with its evidence.
   *
   * @param states the number of different states
   * @param depth the number of steps to the farthest state
   * @param fault the fault; null unless broken
   * @param run the steps to the broken state; empty unless broken
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
   * Checks a model. Needs some 80 bytes for each state, plus the state itself.
   *
   * @param mostStates the number of states at which to give up
   */
  public static <S> Result check(Model<S> model, int mostStates) {
    return new Search<>(model, mostStates).run();
  }

  /** The states in order of discovery, and a hash table of their indexes. */
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

    @SuppressWarnings("unchecked") // only states were stored
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

    /** Labels are not stored: steps are repeated to find the matching one. */
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
