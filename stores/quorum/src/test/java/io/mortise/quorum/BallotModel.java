package io.mortise.quorum;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Tokens as ballots over three members that lose their holds at any time, may not answer, and
 * sometimes forget all. Clients acquire once each. In the first phase a member that is free grants,
 * and accepts the proposed token if its counter is below; if a majority granted but too few
 * accepted, a token above all counters is offered in a second phase. The violation: a token that
 * was granted before, or is not above one whose acquire was over before this one began.
 */
final class BallotModel implements Model<PackedState> {
  private static final int N = 3;
  private static final int MAJORITY = 2;

  // Cells of a member.
  private static final int OWNER = 0;
  private static final int COUNTER = 1;
  private static final int READY = 2;
  private static final int EPOCH = 3;
  private static final int NODE = 4;

  // Cells of a client: phase, token, floor, epoch of the second phase, then three for each member.
  private static final int PHASE = 0;
  private static final int TOKEN = 1;
  private static final int FLOOR = 2;
  private static final int EPOCH_ASKED = 3;
  private static final int REPLY = 4;
  private static final int CLIENT = REPLY + 3 * N;

  private static final int IDLE = 0;
  private static final int FIRST = 1;
  private static final int SECOND = 2;
  private static final int DONE = 3;

  private static final int NONE = 0;
  private static final int NOTHING = 1;
  private static final int GRANTED = 2;
  private static final int ACCEPTED = 3;

  private final BallotVariant variant;
  private final int clients;
  private final int[] proposals;
  private final int crashes;
  private final int globals;

  /** The handling of members that forget, and the rules left out. */
  enum BallotVariant {
    /** None, and the highest counter plus one is the token, written back nowhere. */
    NO_WRITE_BACK,
    /** A member that forgot takes part again at once. */
    NAIVE_RESTART,
    /** The second phase accepts an equal counter. */
    NOT_STRICT,
    /** A member that forgot takes part again when it has read two others. */
    READ_PEERS,
    /** Reading the others raises their epoch too; a grant does not mix epochs. */
    EPOCHS,
    /** As that, and the owner of the member does not matter in the second phase. */
    EPOCHS_WITHOUT_OWNER
  }

  BallotModel(BallotVariant variant, int clients, int crashes, int... proposals) {
    this.variant = variant;
    this.clients = clients;
    this.crashes = crashes;
    this.proposals = proposals;
    this.globals = N * NODE + clients * CLIENT;
  }

  // Cells of the whole, from globals on.
  private static final int CRASHES = 0;
  private static final int READMITS = 1;
  private static final int HIGHEST_READ = 2;
  private static final int HAS_READ = 3;
  private static final int GIVEN = 4;
  private static final int GIVEN_HIGH = 5;
  private static final int TWICE = 6;

  @Override
  public PackedState initial() {
    PackedState packedState = PackedState.of(globals + 7).with(globals + CRASHES, crashes);
    for (int i = 0; i < N; i++) {
      packedState = packedState.with(i * NODE + READY, 1);
    }
    return packedState;
  }

  @Override
  public @Nullable String broken(PackedState state) {
    int token = state.get(globals + TWICE);
    return token == 0 ? null : "token " + token + " is not above what was given before";
  }

  private boolean epochs() {
    return variant == BallotVariant.EPOCHS || variant == BallotVariant.EPOCHS_WITHOUT_OWNER;
  }

  private static String node(int i) {
    return " " + (char) ('A' + i);
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    for (int i = 0; i < N; i++) {
      int at = i * NODE;
      if (state.get(at + OWNER) != 0) {
        step.accept("expires at" + node(i), state.with(at + OWNER, 0));
      }
      if (state.get(globals + CRASHES) > 0) {
        boolean atOnce = variant != BallotVariant.READ_PEERS && !epochs();
        step.accept(
            "forgets all:" + node(i),
            state
                .with(at + OWNER, 0)
                .with(at + COUNTER, 0)
                .with(at + READY, atOnce ? 1 : 0)
                .with(at + EPOCH, 0)
                .with(globals + CRASHES, state.get(globals + CRASHES) - 1));
      }
    }
    if (variant == BallotVariant.READ_PEERS || epochs()) {
      readmit(state, step);
    }
    for (int c = 0; c < clients; c++) {
      int at = N * NODE + c * CLIENT;
      switch (state.get(at + PHASE)) {
        case IDLE -> start(state, c, at, step);
        case FIRST -> first(state, c, at, step);
        case SECOND -> second(state, c, at, step);
        default -> {}
      }
    }
  }

  private void readmit(PackedState state, BiConsumer<String, PackedState> step) {
    int readmits = state.get(globals + READMITS);
    if (readmits == 0) {
      for (int i = 0; i < N; i++) {
        if (state.get(i * NODE + READY) == 0) {
          step.accept(
              "asks the others:" + node(i),
              state
                  .with(globals + READMITS, i + 1)
                  .with(globals + HIGHEST_READ, 0)
                  .with(globals + HAS_READ, 0));
        }
      }
      return;
    }
    int me = readmits - 1;
    int read = state.get(globals + HAS_READ);
    int highest = state.get(globals + HIGHEST_READ);
    for (int j = 0; j < N; j++) {
      if (j != me && (read & 1 << j) == 0 && state.get(j * NODE + READY) == 1) {
        PackedState next =
            state
                .with(globals + HIGHEST_READ, Math.max(highest, state.get(j * NODE + COUNTER)))
                .with(globals + HAS_READ, read | 1 << j);
        if (epochs()) {
          next = next.with(j * NODE + EPOCH, state.get(j * NODE + EPOCH) + 1);
        }
        step.accept("is read:" + node(j), next);
      }
    }
    if (Integer.bitCount(read) >= MAJORITY) {
      step.accept(
          "takes part again:" + node(me),
          state
              .with(globals + READMITS, 0)
              .with(globals + HIGHEST_READ, 0)
              .with(globals + HAS_READ, 0)
              .with(me * NODE + OWNER, 0)
              .with(me * NODE + COUNTER, highest)
              .with(me * NODE + READY, 1)
              .with(me * NODE + EPOCH, epochs() ? 1 : 0));
    }
  }

  private void start(PackedState state, int c, int at, BiConsumer<String, PackedState> step) {
    for (int proposal : proposals) {
      step.accept(
          "client " + c + " begins, proposes " + proposal,
          state
              .with(at + PHASE, FIRST)
              .with(at + TOKEN, proposal)
              .with(at + FLOOR, highestGiven(state)));
    }
  }

  private void first(PackedState state, int c, int at, BiConsumer<String, PackedState> step) {
    int proposal = state.get(at + TOKEN);
    for (int i = 0; i < N; i++) {
      int reply = at + REPLY + 3 * i;
      if (state.get(reply) != NONE) {
        continue;
      }
      int node = i * NODE;
      if (state.get(node + READY) == 1 && state.get(node + OWNER) == 0) {
        int counter = state.get(node + COUNTER);
        boolean accepts = counter < proposal;
        boolean writes = accepts && variant != BallotVariant.NO_WRITE_BACK;
        PackedState there =
            state.with(node + OWNER, c + 1).with(node + COUNTER, writes ? proposal : counter);
        step.accept(
            "grants to client " + c + ":" + node(i),
            there
                .with(reply, accepts ? ACCEPTED : GRANTED)
                .with(reply + 1, counter)
                .with(reply + 2, state.get(node + EPOCH)));
        step.accept("grants to client " + c + ", unheard:" + node(i), there.with(reply, NOTHING));
      } else {
        step.accept("is busy for client " + c + ":" + node(i), state.with(reply, NOTHING));
      }
    }
    for (int epoch = 0; epoch <= (epochs() ? 3 : 0); epoch++) {
      decideFirst(state, c, at, epoch, step);
    }
  }

  private void decideFirst(
      PackedState state, int c, int at, int epoch, BiConsumer<String, PackedState> step) {
    int granted = 0;
    int accepted = 0;
    int highest = 0;
    for (int i = 0; i < N; i++) {
      int reply = at + REPLY + 3 * i;
      if (state.get(reply) >= GRANTED && (!epochs() || state.get(reply + 2) == epoch)) {
        granted++;
        accepted += state.get(reply) == ACCEPTED ? 1 : 0;
        highest = Math.max(highest, state.get(reply + 1));
      }
    }
    if (granted < MAJORITY) {
      return;
    }
    if (variant == BallotVariant.NO_WRITE_BACK) {
      give(state, c, at, highest + 1, step);
    } else if (accepted >= MAJORITY) {
      give(state, c, at, state.get(at + TOKEN), step);
    } else {
      PackedState next =
          state
              .with(at + PHASE, SECOND)
              .with(at + TOKEN, Math.max(state.get(at + TOKEN), highest) + 1)
              .with(at + EPOCH_ASKED, epoch);
      for (int i = 0; i < 3 * N; i++) {
        next = next.with(at + REPLY + i, 0);
      }
      step.accept("client " + c + " offers " + next.get(at + TOKEN), next);
    }
  }

  private void second(PackedState state, int c, int at, BiConsumer<String, PackedState> step) {
    int token = state.get(at + TOKEN);
    int accepted = 0;
    for (int i = 0; i < N; i++) {
      int reply = at + REPLY + 3 * i;
      accepted += state.get(reply) == ACCEPTED ? 1 : 0;
      if (state.get(reply) != NONE) {
        continue;
      }
      int node = i * NODE;
      int counter = state.get(node + COUNTER);
      boolean owns =
          state.get(node + OWNER) == c + 1 || variant == BallotVariant.EPOCHS_WITHOUT_OWNER;
      boolean accepts =
          state.get(node + READY) == 1
              && owns
              && (!epochs() || state.get(node + EPOCH) == state.get(at + EPOCH_ASKED))
              && (counter < token || variant == BallotVariant.NOT_STRICT);
      PackedState next = state.with(reply, accepts ? ACCEPTED : NOTHING);
      step.accept(
          (accepts ? "accepts " : "refuses ") + token + " of client " + c + ":" + node(i),
          accepts ? next.with(node + COUNTER, Math.max(counter, token)) : next);
    }
    if (accepted >= MAJORITY) {
      give(state, c, at, token, step);
    }
  }

  private void give(
      PackedState state, int c, int at, int token, BiConsumer<String, PackedState> step) {
    boolean twice = isGiven(state, token) || token <= state.get(at + FLOOR);
    PackedState next = state.with(at + PHASE, DONE).with(at + TOKEN, token);
    for (int i = 0; i < 3 * N; i++) {
      next = next.with(at + REPLY + i, 0);
    }
    int cell = globals + (token < 7 ? GIVEN : GIVEN_HIGH);
    next = next.with(cell, next.get(cell) | 1 << token % 7);
    step.accept(
        "client " + c + " has token " + token, twice ? next.with(globals + TWICE, token) : next);
  }

  private boolean isGiven(PackedState state, int token) {
    return (state.get(globals + (token < 7 ? GIVEN : GIVEN_HIGH)) & 1 << token % 7) != 0;
  }

  private int highestGiven(PackedState state) {
    for (int token = 13; token > 0; token--) {
      if (isGiven(state, token)) {
        return token;
      }
    }
    return 0;
  }
}
