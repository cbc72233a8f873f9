package io.mortise.quorum;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Tokens as {@link QuorumSession} takes them. Each member mints a block of its own, above its
 * counter and the requested floor. A grant has the tokens that a majority minted for it ({@link
 * QuorumRules#tokens}, the very code); if they have none in common, all are asked again from above.
 * Holders do not matter here, so any member may grant at any time, or not at all. Members' clocks
 * may be ahead of the floor by one.
 */
final class TokenMintModel implements Model<PackedState> {
  private static final int N = 3;
  private static final int MAJORITY = 2;
  private static final int BLOCK = 2;
  private static final int BALLOTS = 2;

  private static final int COUNTER = 0;
  private static final int STANDING = 1;
  private static final int NODE = 2;

  private static final int REMEMBERS = 0;
  private static final int QUARANTINED = 1;
  private static final int FORGETFUL = 2;

  private static final int PHASE = 0;
  private static final int FLOOR = 1;
  private static final int BEFORE = 2;
  private static final int BALLOT = 3;

  /** Of each member: its answer, from which token on, and whether it forgot meanwhile. */
  private static final int ANSWER = 4;

  private static final int SINCE = 2;
  private static final int PER_MEMBER = 3;
  private static final int FIRST = ANSWER + PER_MEMBER * N;
  private static final int LAST = FIRST + 1;
  private static final int CLIENT = LAST + 1;

  private static final int IDLE = 0;
  private static final int ASKING = 1;
  private static final int DONE = 2;
  private static final int GAVE_UP = 3;

  private static final int NONE = 0;
  private static final int NOTHING = 1;
  private static final int MINTED = 2;
  private static final int MINTED_BY_FORGETFUL = 3;

  private final MintVariant variant;
  private final QuorumRules rules;
  private final int clients;
  private final int crashes;

  /** How many answers are lost, or requests of an earlier try arrive late. */
  private final int unheard;

  private final int global;

  enum MintVariant {
    /** The implemented rule. */
    BUILT,
    /** A member that forgot takes part again at once. */
    NAIVE_RESTART,
    /** A member that forgot counts like the others as soon as no earlier request is in flight. */
    FORGETFUL_COUNTS
  }

  TokenMintModel(MintVariant variant, QuorumRules rules, int crashes, int unheard) {
    this.variant = variant;
    this.rules = rules;
    this.clients = 2;
    this.crashes = crashes;
    this.unheard = unheard;
    this.global = N * NODE + clients * CLIENT;
  }

  @Override
  public PackedState initial() {
    return PackedState.of(global + 2).with(global, crashes).with(global + 1, unheard);
  }

  @Override
  public @Nullable String broken(PackedState state) {
    for (int c = 0; c < clients; c++) {
      int one = client(c);
      if (state.get(one + PHASE) != DONE) {
        continue;
      }
      if (state.get(one + FIRST) <= state.get(one + BEFORE)) {
        return "client " + c + " has a token that is not above an earlier hold's";
      }
      for (int d = 0; d < c; d++) {
        int other = client(d);
        if (state.get(other + PHASE) == DONE
            && state.get(other + FIRST) <= state.get(one + LAST)
            && state.get(one + FIRST) <= state.get(other + LAST)) {
          return "clients " + d + " and " + c + " share a token";
        }
      }
    }
    return null;
  }

  private static int client(int c) {
    return N * NODE + c * CLIENT;
  }

  private static String node(int i) {
    return " " + (char) ('A' + i);
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> each) {
    // Members are symmetric: of states that differ only by a permutation, one is enough.
    BiConsumer<String, PackedState> step = (label, next) -> each.accept(label, ordered(next));
    for (int i = 0; i < N; i++) {
      if (state.get(global) > 0) {
        forget(state, i, step);
      }
      if (state.get(i * NODE + STANDING) == QUARANTINED && nothingFromBefore(state, i)) {
        int standing = variant == MintVariant.FORGETFUL_COUNTS ? REMEMBERS : FORGETFUL;
        step.accept("quarantine ends:" + node(i), state.with(i * NODE + STANDING, standing));
      }
    }
    for (int c = 0; c < clients; c++) {
      int at = client(c);
      if (state.get(at + PHASE) == IDLE) {
        step.accept(
            "client " + c + " begins",
            state.with(at + PHASE, ASKING).with(at + FLOOR, 1).with(at + BEFORE, highest(state)));
      } else if (state.get(at + PHASE) == ASKING) {
        ask(state, c, at, step);
        decide(state, c, at, step);
        step.accept("client " + c + " gives up", over(state, at, GAVE_UP));
      }
    }
  }

  private PackedState ordered(PackedState state) {
    PackedState sorted = state;
    for (int end = N - 1; end > 0; end--) {
      for (int i = 0; i < end; i++) {
        if (rank(sorted, i) > rank(sorted, i + 1)) {
          sorted = swapped(sorted, i, i + 1);
        }
      }
    }
    return sorted;
  }

  private long rank(PackedState state, int i) {
    long rank = state.get(i * NODE + COUNTER) * 4L + state.get(i * NODE + STANDING);
    for (int c = 0; c < clients; c++) {
      for (int cell = 0; cell < PER_MEMBER; cell++) {
        rank = rank * 32 + state.get(client(c) + ANSWER + PER_MEMBER * i + cell);
      }
    }
    return rank;
  }

  private PackedState swapped(PackedState state, int i, int j) {
    PackedState next = state;
    for (int cell = 0; cell < NODE; cell++) {
      next =
          next.with(i * NODE + cell, state.get(j * NODE + cell))
              .with(j * NODE + cell, state.get(i * NODE + cell));
    }
    for (int c = 0; c < clients; c++) {
      for (int cell = 0; cell < PER_MEMBER; cell++) {
        int answer = client(c) + ANSWER + cell;
        next =
            next.with(answer + PER_MEMBER * i, state.get(answer + PER_MEMBER * j))
                .with(answer + PER_MEMBER * j, state.get(answer + PER_MEMBER * i));
      }
    }
    return next;
  }

  private void forget(PackedState state, int i, BiConsumer<String, PackedState> step) {
    int standing = variant == MintVariant.NAIVE_RESTART ? REMEMBERS : QUARANTINED;
    PackedState next =
        state
            .with(i * NODE + COUNTER, 0)
            .with(i * NODE + STANDING, standing)
            .with(global, state.get(global) - 1);
    for (int c = 0; c < clients; c++) {
      if (state.get(client(c) + PHASE) == ASKING) {
        next = next.with(client(c) + ANSWER + PER_MEMBER * i + SINCE, 1);
      }
    }
    step.accept("forgets all:" + node(i), next);
  }

  private boolean nothingFromBefore(PackedState state, int i) {
    for (int c = 0; c < clients; c++) {
      int at = client(c);
      if (state.get(at + PHASE) == ASKING && state.get(at + ANSWER + PER_MEMBER * i + SINCE) == 1) {
        return false;
      }
    }
    return true;
  }

  private void ask(PackedState state, int c, int at, BiConsumer<String, PackedState> step) {
    for (int i = 0; i < N; i++) {
      int answer = at + ANSWER + PER_MEMBER * i;
      if (state.get(answer) != NONE) {
        continue;
      }
      int standing = state.get(i * NODE + STANDING);
      if (standing == QUARANTINED) {
        continue;
      }
      int least = Math.max(state.get(i * NODE + COUNTER) + 1, state.get(at + FLOOR));
      for (int first = least; first <= least + 1; first++) {
        PackedState there = state.with(i * NODE + COUNTER, first + BLOCK - 1);
        step.accept(
            "mints from " + first + " for client " + c + ":" + node(i),
            there
                .with(answer, standing == FORGETFUL ? MINTED_BY_FORGETFUL : MINTED)
                .with(answer + 1, first));
        if (state.get(global + 1) > 0) {
          step.accept(
              "mints from " + first + " for client " + c + ", unheard:" + node(i),
              there.with(answer, NOTHING).with(global + 1, state.get(global + 1) - 1));
        }
      }
    }
  }

  private void decide(PackedState state, int c, int at, BiConsumer<String, PackedState> step) {
    List<TokenBlock> minted = new ArrayList<>();
    int granted = 0;
    int last = 0;
    for (int i = 0; i < N; i++) {
      int answer = at + ANSWER + PER_MEMBER * i;
      if (state.get(answer) >= MINTED) {
        granted++;
        last = Math.max(last, state.get(answer + 1) + BLOCK - 1);
        if (state.get(answer) == MINTED) {
          minted.add(new TokenBlock(state.get(answer + 1), BLOCK));
        }
      }
    }
    if (granted < MAJORITY) {
      return;
    }
    TokenBlock tokens = rules.tokens(minted, MAJORITY);
    if (tokens != null) {
      step.accept(
          "client " + c + " has " + tokens,
          over(state, at, DONE)
              .with(at + FIRST, (int) tokens.first())
              .with(at + LAST, (int) tokens.last()));
    } else if (state.get(at + BALLOT) + 1 < BALLOTS) {
      PackedState next =
          state.with(at + BALLOT, state.get(at + BALLOT) + 1).with(at + FLOOR, last + 1);
      for (int i = 0; i < N; i++) {
        int answer = at + ANSWER + PER_MEMBER * i;
        next = next.with(answer, 0).with(answer + 1, 0);
      }
      step.accept("client " + c + " asks again from " + (last + 1), next);
    }
  }

  private static PackedState over(PackedState state, int at, int phase) {
    PackedState next = state.with(at + PHASE, phase).with(at + FLOOR, 0).with(at + BALLOT, 0);
    for (int i = 0; i < PER_MEMBER * N; i++) {
      next = next.with(at + ANSWER + i, 0);
    }
    return next;
  }

  private int highest(PackedState state) {
    int highest = 0;
    for (int c = 0; c < clients; c++) {
      int at = client(c);
      highest = state.get(at + PHASE) == DONE ? Math.max(highest, state.get(at + LAST)) : highest;
    }
    return highest;
  }
}
