package io.mortise.quorum;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The belief to hold a lock: two clients, and three members that grant, forget all, and let
 * sessions expire after their owners have ceased to count on them. The violation: two believe at
 * one time, or one believes after another was granted later.
 */
final class VotesModel implements Model<PackedState> {
  private static final int N = 3;
  private static final int C = 2;
  private static final int MAJORITY = 2;

  // Cells of a member: its holder, and whether it is in quarantine.
  private static final int HOLDER = 0;
  private static final int QUARANTINED = 1;
  private static final int NODE = 2;

  // Cells of a client: whether and as which in order it was granted; then of each member: whether
  // the member has its session, whether the client counts on it, whether it counts on its vote.
  private static final int GRANTED = 0;
  private static final int LIVES = 1;
  private static final int SESSION = 2;
  private static final int VOTE = 3;
  private static final int PER_MEMBER = 3;
  private static final int CLIENT = 1 + PER_MEMBER * N;

  private static final int RESTARTS = N * NODE + C * CLIENT;
  private static final int GRANTS = RESTARTS + 1;
  private static final int MOST_GRANTS = 2;

  private final VotesVariant variant;
  private final int restarts;

  enum VotesVariant {
    /** The implemented rule. */
    BUILT,
    /** A lease depends on any majority that renews the session, not on those that granted it. */
    ANY_MAJORITY,
    /** A member that forgot grants again at once. */
    NO_QUARANTINE,
    /** Members that have forgotten may grant at once if all have, as if they were all new. */
    NO_QUARANTINE_IF_ALL_ARE_EMPTY,
    /** A member that grants again counts also for a hold that had too few votes meanwhile. */
    REPAIRS_WHAT_IS_LOST
  }

  VotesModel(VotesVariant variant, int restarts) {
    this.variant = variant;
    this.restarts = restarts;
  }

  @Override
  public PackedState initial() {
    PackedState packedState = PackedState.of(GRANTS + 1).with(RESTARTS, restarts);
    for (int c = 0; c < C; c++) {
      for (int n = 0; n < N; n++) {
        packedState = packedState.with(at(c, n, LIVES), 1).with(at(c, n, SESSION), 1);
      }
    }
    return packedState;
  }

  private static int client(int c) {
    return N * NODE + c * CLIENT;
  }

  private static int at(int c, int n, int cell) {
    return client(c) + PER_MEMBER * n + cell;
  }

  private static int count(PackedState state, int c, int cell) {
    int count = 0;
    for (int n = 0; n < N; n++) {
      count += state.get(at(c, n, cell));
    }
    return count;
  }

  private boolean believes(PackedState state, int c) {
    int cell = variant == VotesVariant.ANY_MAJORITY ? SESSION : VOTE;
    return state.get(client(c) + GRANTED) > 0 && count(state, c, cell) >= MAJORITY;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    int first = state.get(client(0) + GRANTED);
    int second = state.get(client(1) + GRANTED);
    if (believes(state, 0) && believes(state, 1)) {
      return "both clients believe that they hold";
    } else if (believes(state, 0) && second > first) {
      return "client 0 believes though client 1 was granted after it";
    } else if (believes(state, 1) && first > second) {
      return "client 1 believes though client 0 was granted after it";
    }
    return null;
  }

  private static String node(int i) {
    return " " + (char) ('A' + i);
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> each) {
    // Members are symmetric: of states that differ only by a permutation, one is enough.
    BiConsumer<String, PackedState> step = (label, next) -> each.accept(label, ordered(next));
    if (variant == VotesVariant.NO_QUARANTINE_IF_ALL_ARE_EMPTY && allAreEmpty(state)) {
      PackedState next = state;
      for (int n = 0; n < N; n++) {
        next = next.with(n * NODE + QUARANTINED, 0);
      }
      step.accept("all answer that they are empty", next);
    }
    for (int n = 0; n < N; n++) {
      if (state.get(RESTARTS) > 0) {
        PackedState next =
            state
                .with(n * NODE + HOLDER, 0)
                .with(n * NODE + QUARANTINED, variant == VotesVariant.NO_QUARANTINE ? 0 : 1)
                .with(RESTARTS, state.get(RESTARTS) - 1);
        for (int c = 0; c < C; c++) {
          next = next.with(at(c, n, LIVES), 0);
        }
        step.accept("forgets all:" + node(n), next);
      }
      if (state.get(n * NODE + QUARANTINED) == 1 && nobodyCountsOnThePast(state, n)) {
        step.accept("quarantine ends:" + node(n), state.with(n * NODE + QUARANTINED, 0));
      }
      for (int c = 0; c < C; c++) {
        member(state, c, n, step);
      }
    }
    for (int c = 0; c < C; c++) {
      int granted = client(c) + GRANTED;
      if (state.get(granted) == 0
          && count(state, c, VOTE) >= MAJORITY
          && state.get(GRANTS) < MOST_GRANTS) {
        int number = state.get(GRANTS) + 1;
        step.accept(
            "client " + c + " is granted", state.with(granted, number).with(GRANTS, number));
      }
      step.accept("client " + c + " releases", released(state, c));
    }
  }

  private static PackedState ordered(PackedState state) {
    PackedState sorted = state;
    for (int end = N - 1; end > 0; end--) {
      for (int n = 0; n < end; n++) {
        if (rank(sorted, n) > rank(sorted, n + 1)) {
          sorted = swapped(sorted, n, n + 1);
        }
      }
    }
    return sorted;
  }

  private static int rank(PackedState state, int n) {
    int rank = state.get(n * NODE + HOLDER) * 2 + state.get(n * NODE + QUARANTINED);
    for (int c = 0; c < C; c++) {
      for (int cell = LIVES; cell <= VOTE; cell++) {
        rank = rank * 2 + state.get(at(c, n, cell));
      }
    }
    return rank;
  }

  private static PackedState swapped(PackedState state, int n, int m) {
    PackedState next = state;
    for (int cell = 0; cell < NODE; cell++) {
      next =
          next.with(n * NODE + cell, state.get(m * NODE + cell))
              .with(m * NODE + cell, state.get(n * NODE + cell));
    }
    for (int c = 0; c < C; c++) {
      for (int cell = LIVES; cell <= VOTE; cell++) {
        next =
            next.with(at(c, n, cell), state.get(at(c, m, cell)))
                .with(at(c, m, cell), state.get(at(c, n, cell)));
      }
    }
    return next;
  }

  private static boolean allAreEmpty(PackedState state) {
    for (int n = 0; n < N; n++) {
      if (state.get(n * NODE + QUARANTINED) == 0 || state.get(n * NODE + HOLDER) != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Each client that renewed there before it forgot has noticed by now, or its deadline has passed.
   */
  private static boolean nobodyCountsOnThePast(PackedState state, int n) {
    for (int c = 0; c < C; c++) {
      if (state.get(at(c, n, SESSION)) == 1 && state.get(at(c, n, LIVES)) == 0) {
        return false;
      }
    }
    return true;
  }

  private void member(PackedState state, int c, int n, BiConsumer<String, PackedState> step) {
    boolean lives = state.get(at(c, n, LIVES)) == 1;
    boolean counted = state.get(at(c, n, SESSION)) == 1;
    boolean holds = state.get(n * NODE + HOLDER) == c + 1;
    boolean hasVote = state.get(at(c, n, VOTE)) == 1;
    boolean free = state.get(n * NODE + HOLDER) == 0 && state.get(n * NODE + QUARANTINED) == 0;
    if (lives && counted && (free || holds) && !hasVote) {
      boolean wasGranted = state.get(client(c) + GRANTED) > 0;
      boolean counts =
          !wasGranted || believes(state, c) || variant == VotesVariant.REPAIRS_WHAT_IS_LOST;
      PackedState next = state.with(n * NODE + HOLDER, c + 1);
      step.accept(
          "grants to client " + c + ":" + node(n), counts ? next.with(at(c, n, VOTE), 1) : next);
    }
    if (counted) {
      // The answer to its renewal says so, or its deadline comes.
      step.accept(
          "client " + c + " counts no longer on" + node(n),
          state.with(at(c, n, SESSION), 0).with(at(c, n, VOTE), 0));
    }
    if (lives && !counted) {
      step.accept(
          "session of client " + c + " expires at" + node(n),
          state.with(at(c, n, LIVES), 0).with(n * NODE + HOLDER, holds ? 0 : state.get(n * NODE)));
    }
    if (!lives && !counted) {
      step.accept(
          "client " + c + " opens a session at" + node(n),
          state.with(at(c, n, LIVES), 1).with(at(c, n, SESSION), 1));
    }
  }

  private static PackedState released(PackedState state, int c) {
    PackedState next = state.with(client(c) + GRANTED, 0);
    for (int n = 0; n < N; n++) {
      next = next.with(at(c, n, VOTE), 0);
      if (state.get(n * NODE + HOLDER) == c + 1) {
        next = next.with(n * NODE + HOLDER, 0);
      }
    }
    return next;
  }
}
