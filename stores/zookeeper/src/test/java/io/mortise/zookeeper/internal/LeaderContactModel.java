package io.mortise.zookeeper.internal;

import io.mortise.verification.model.Model;
import io.mortise.verification.model.PackedState;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How long a client may count on its session when a follower stands between it and the leader
 * (invariants.md#zookeeper-renewal, {@link LeaderContactTracker}). The client sends one request
 * after the other. The follower notes that it has heard of the client, and reports so when it
 * answers the leader's next ping. Requests go through the leader, which pings once in each unit of
 * time, and ends the session after a timeout without a report. Each channel is in order, and may
 * take any time, or for ever.
 *
 * <p>The violation: the leader has ended the session, and the client counts on it.
 */
final class LeaderContactModel implements Model<PackedState> {
  private static final int NONE = -1;

  /** Answered requests that the client remembers: time since sending, time since the answer. */
  private static final int KEPT = 3;

  /** The units that the client still counts on the session. */
  private static final int LEFT = 2 * KEPT;

  /** The request in flight: time since sending, and whether it has yet to reach the follower. */
  private static final int SENT = LEFT + 1;

  private static final int COMING = LEFT + 2;

  /** The follower has heard of the client since it answered a ping. */
  private static final int HEARD = LEFT + 3;

  // Messages in flight to the leader, to the follower, and to the client.
  private static final int WAY = 3;
  private static final int TO_LEADER = LEFT + 4;
  private static final int TO_FOLLOWER = TO_LEADER + WAY;
  private static final int ANSWER = TO_FOLLOWER + WAY;

  /** Units since the leader was told of the client; none if it has ended the session. */
  private static final int TOLD = ANSWER + 1;

  private static final int NOTE = 1;
  private static final int REQUEST = 2;
  private static final int PING = 3;
  private static final int DONE = 4;

  private final Variant variant;
  private final int timeout;
  private final int relay;

  enum Variant {
    /** The implemented rule. */
    BUILT,
    /** The leader heard of an answered request when it was sent. */
    BELIEVES_THE_ANSWER,
    /** It did, if the next request was sent a while after the first was sent. */
    COUNTS_FROM_SENDING,
    /** It did, if the next request was sent a while after the first was answered. */
    ONE_REQUEST_AFTER,
    /** The first of the two requests that follow may be sent at once. */
    WITHOUT_WAITING,
    /** The time counts from the answer. */
    COUNTS_FROM_THE_ANSWER
  }

  LeaderContactModel(Variant variant, int timeout, int relay) {
    this.variant = variant;
    this.timeout = timeout;
    this.relay = relay;
  }

  @Override
  public PackedState initial() {
    PackedState.PackedStateBuilder cells = PackedState.of(TOLD + 1).draft().set(SENT, NONE);
    for (int i = 0; i < 2 * KEPT; i++) {
      cells.set(i, NONE);
    }
    return cells.done();
  }

  @Override
  public @Nullable String broken(PackedState state) {
    return state.get(TOLD) == NONE && state.get(LEFT) > 0
        ? "the leader has ended the session, and its client counts on it"
        : null;
  }

  @Override
  public void next(PackedState state, BiConsumer<String, PackedState> step) {
    step.accept("time passes, the leader pings", tick(state));
    if (state.get(TOLD) >= timeout) {
      step.accept("the leader ends the session", state.with(TOLD, NONE));
    }
    client(state, step);
    follower(state, step);
    leader(state, step);
  }

  private PackedState tick(PackedState state) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int i = 0; i < 2 * KEPT; i++) {
      grow(next, i);
    }
    grow(next, SENT);
    grow(next, TOLD);
    next.set(LEFT, Math.max(0, state.get(LEFT) - 1));
    put(next, TO_FOLLOWER, PING);
    return next.done();
  }

  private void grow(PackedState.PackedStateBuilder next, int age) {
    if (next.get(age) != NONE) {
      next.set(age, Math.min(timeout, next.get(age) + 1));
    }
  }

  private void client(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(SENT) == NONE) {
      step.accept("the client sends a request", state.with(SENT, 0).with(COMING, 1));
    }
    if (state.get(ANSWER) == 1) {
      PackedState.PackedStateBuilder next = state.draft();
      next.set(LEFT, Math.max(state.get(LEFT), proven(state)));
      for (int i = 2 * KEPT - 1; i > 1; i--) {
        next.set(i, state.get(i - 2));
      }
      next.set(0, state.get(SENT)).set(1, 0).set(SENT, NONE).set(ANSWER, 0);
      step.accept("the client is answered", next.done());
    }
  }

  /** The least remaining life of the session that the latest answer shows. */
  private int proven(PackedState state) {
    int sent = state.get(SENT);
    int best = variant == Variant.BELIEVES_THE_ANSWER ? timeout - sent : 0;
    if (variant == Variant.BUILT) {
      LeaderContactTracker leaderContactTracker = new LeaderContactTracker(relay);
      for (int i = KEPT - 1; i >= 0; i--) {
        if (state.get(2 * i) != NONE) {
          leaderContactTracker.answered(-state.get(2 * i), -state.get(2 * i + 1), 1);
        }
      }
      leaderContactTracker.answered(-sent, 0, 1);
      int left = timeout;
      while (left > 0 && !leaderContactTracker.reach(left, timeout)) {
        left--;
      }
      return left;
    }
    for (int i = 0; i < KEPT && state.get(2 * i) != NONE; i++) {
      int wasSent = state.get(2 * i);
      int wasAnswered = state.get(2 * i + 1);
      boolean counts =
          switch (variant) {
            case COUNTS_FROM_SENDING -> wasSent - sent >= relay;
            case ONE_REQUEST_AFTER -> wasAnswered - sent >= relay;
            default -> isFollowed(state, i);
          };
      int from = variant == Variant.COUNTS_FROM_THE_ANSWER ? wasAnswered : wasSent;
      best = counts ? Math.max(best, timeout - from) : best;
    }
    return best;
  }

  private boolean isFollowed(PackedState state, int i) {
    int wait = variant == Variant.WITHOUT_WAITING ? 0 : relay;
    for (int j = 0; j < i; j++) {
      if (state.get(2 * i + 1) - state.get(2 * j) >= wait) {
        return true;
      }
    }
    return false;
  }

  private void follower(PackedState state, BiConsumer<String, PackedState> step) {
    if (state.get(COMING) == 1) {
      PackedState.PackedStateBuilder next = state.draft().set(COMING, 0).set(HEARD, 1);
      put(next, TO_LEADER, REQUEST);
      step.accept("the follower notes the client, and passes the request on", next.done());
    }
    int first = state.get(TO_FOLLOWER);
    if (first == PING) {
      PackedState.PackedStateBuilder next = taken(state, TO_FOLLOWER);
      if (state.get(HEARD) == 1) {
        put(next.set(HEARD, 0), TO_LEADER, NOTE);
      }
      step.accept("the follower answers a ping", next.done());
    } else if (first == DONE) {
      step.accept(
          "the follower answers the client", taken(state, TO_FOLLOWER).set(ANSWER, 1).done());
    }
  }

  private void leader(PackedState state, BiConsumer<String, PackedState> step) {
    int first = state.get(TO_LEADER);
    if (first == NOTE) {
      PackedState.PackedStateBuilder next = taken(state, TO_LEADER);
      step.accept(
          "the leader hears of the client",
          next.set(TOLD, next.get(TOLD) == NONE ? NONE : 0).done());
    } else if (first == REQUEST && state.get(TOLD) != NONE) {
      PackedState.PackedStateBuilder next = taken(state, TO_LEADER);
      put(next, TO_FOLLOWER, DONE);
      step.accept("the leader executes the request", next.done());
    }
  }

  private static PackedState.PackedStateBuilder taken(PackedState state, int way) {
    PackedState.PackedStateBuilder next = state.draft();
    for (int i = way; i < way + WAY; i++) {
      next.set(i, i + 1 < way + WAY ? state.get(i + 1) : 0);
    }
    return next;
  }

  /** Two of a kind in a row count as one. */
  private static void put(PackedState.PackedStateBuilder next, int way, int what) {
    int last = 0;
    for (int i = way; i < way + WAY; i++) {
      if (next.get(i) == 0) {
        if (last != what) {
          next.set(i, what);
        }
        return;
      }
      last = next.get(i);
    }
    if (last != what) {
      throw new IllegalStateException("More is on the way than there is room for.");
    }
  }
}
