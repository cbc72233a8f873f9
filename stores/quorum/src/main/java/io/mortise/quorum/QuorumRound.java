package io.mortise.quorum;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One request to all members, and their answers. It is decided once, as soon as the answers
 * suffice, or when their time is over. Guarded by the stripe.
 */
abstract class QuorumRound {
  final QuorumSession session;
  final QuorumStripe quorumStripe;
  private final @Nullable Reply[] replies;
  private final boolean[] silent;
  private int pending;
  private boolean sending;
  private boolean over;
  private Runnable stopTimer = () -> {};
  private Consumer<Reply> sink;

  QuorumRound(QuorumSession session, QuorumStripe quorumStripe, Consumer<Reply> sink) {
    this.session = session;
    this.quorumStripe = quorumStripe;
    this.sink = sink;
    this.replies = new @Nullable Reply[session.size()];
    this.silent = new boolean[session.size()];
  }

  /** Under the lock: sends to all, and evaluates immediate answers. */
  final void begin() {
    Arrays.fill(replies, null);
    Arrays.fill(silent, false);
    pending = replies.length;
    sending = true;
    for (int i = 0; i < replies.length; i++) {
      Reply atOnce = ask(i);
      if (atOnce != null) {
        replies[i] = atOnce;
        pending--;
      }
    }
    stopTimer.run();
    stopTimer = pending == 0 ? () -> {} : session.later(this::timeOver);
    // Behind the outbox's earlier entries: some members answer while they are asked.
    quorumStripe.send(
        () -> {
          quorumStripe.lock();
          try {
            sending = false;
            look();
          } finally {
            quorumStripe.unlock();
          }
        });
  }

  /** Puts the request to one member into the outbox; or returns the answer if none is needed. */
  abstract @Nullable Reply ask(int member);

  /** The overall answer; null if more answers are needed first. */
  abstract @Nullable Reply decide();

  /** The value of a member's answer in this round. */
  Reply classify(int member, Reply reply) {
    return reply;
  }

  /** Sees every current answer, before it is evaluated. */
  void heard(int member, Reply reply) {}

  /** Sees an answer that came after the decision. */
  void late(int member, Reply reply) {}

  /** Called without a lock. */
  final void answered(int member, Object asked, Reply reply) {
    quorumStripe.lock();
    try {
      if (!isCurrent(member, asked)) {
        return;
      }
      boolean first = replies[member] == null;
      if (!first && !silent[member]) {
        return;
      }
      silent[member] = false;
      Reply counted = classify(member, reply);
      replies[member] = counted;
      heard(member, counted);
      if (over && session.rules().answersOnce()) {
        late(member, counted);
        return;
      }
      if (first) {
        pending--;
      }
      look();
    } finally {
      quorumStripe.unlock();
    }
  }

  /** Whether an answer belongs to the present question. */
  boolean isCurrent(int member, Object asked) {
    return true;
  }

  private void look() {
    if ((!over || !session.rules().answersOnce()) && !sending) {
      Reply reply = decide();
      if (reply != null) {
        over = true;
        stopTimer.run();
        Consumer<Reply> told = sink;
        quorumStripe.afterUnlock(() -> told.accept(reply));
      }
    }
  }

  private void timeOver() {
    quorumStripe.lock();
    try {
      if (over) {
        return;
      }
      for (int i = 0; i < replies.length; i++) {
        if (replies[i] == null) {
          silent[i] = true;
          Reply silence = session.silence(i, attempt());
          replies[i] = silence;
          heard(i, silence);
        }
      }
      pending = 0;
      look();
    } finally {
      quorumStripe.unlock();
    }
  }

  /** Another caller with the same request gets the same answer. */
  final void join(Consumer<Reply> other) {
    Consumer<Reply> first = sink;
    sink =
        reply -> {
          first.accept(reply);
          other.accept(reply);
        };
  }

  final boolean isOver() {
    return over;
  }

  final int pending() {
    return pending;
  }

  final @Nullable Reply reply(int member) {
    return replies[member];
  }

  final <T extends Reply> int count(Class<T> type, Predicate<? super T> which) {
    int count = 0;
    for (Reply reply : replies) {
      if (type.isInstance(reply) && which.test(type.cast(reply))) {
        count++;
      }
    }
    return count;
  }

  final int count(Class<? extends Reply> type) {
    return count(type, any -> true);
  }

  abstract AttemptId attempt();
}
