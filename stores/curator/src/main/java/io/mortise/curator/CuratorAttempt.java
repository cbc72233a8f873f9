package io.mortise.curator;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.support.internal.session.Refusals;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of this process and its nodes. Its requests and watch events are handled one after
 * the other, each as a short chain of asynchronous steps; different attempts proceed independently.
 *
 * <p>Guarded by its session: every method runs inside {@link CuratorSession#step}.
 */
abstract class CuratorAttempt {
  final CuratorSession session;
  final LockName name;
  final AttemptId attempt;

  private final ArrayDeque<Runnable> backlog = new ArrayDeque<>();

  /** Later requests of this process for the same lock, which must wait for the backlog. */
  private final List<Runnable> behind = new ArrayList<>();

  /** Actions that wait until all events so far have been handled. */
  private final List<Runnable> untilLooked = new ArrayList<>();

  private boolean busy;
  private boolean stirred;

  CuratorAttempt(CuratorSession session, LockName name, AttemptId attempt) {
    this.session = session;
    this.name = name;
    this.attempt = attempt;
  }

  final void submit(Request request, Consumer<Reply> sink) {
    AttemptOperation operation = new AttemptOperation(sink, true);
    Runnable start =
        () -> {
          if (request instanceof Request.Acquire acquire) {
            acquire(acquire, operation);
          } else if (request instanceof Request.Abandon) {
            abandon(operation);
          } else {
            adjust((Request.Adjust) request, operation);
          }
        };
    if (busy) {
      backlog.add(start);
      session.waitsInLine(this);
    } else {
      busy = true;
      start.run();
    }
  }

  /** Runs the request once earlier requests for the same lock are in flight. */
  final void later(Runnable request) {
    behind.add(request);
  }

  /** A watch fired: the wait may be over, or the attempt may have lost its node. */
  final void onWatchEvent() {
    if (busy) {
      stirred = true;
    } else {
      busy = true;
      look(new AttemptOperation(this::unasked, false));
    }
  }

  /** Handles the outcome of a look that no request waits for. */
  private void unasked(Reply reply) {
    if (reply instanceof Reply.Failed) {
      // The watch that the look should set may be missing.
      session.lookLater(this);
    } else if (reply instanceof Reply.Refused refused
        && refused.why() != RefusalReason.SESSION_GONE) {
      session.step(
          () -> announce(new SessionNotification.HoldEnded(name, attempt, EndReason.UNKNOWN)));
    }
  }

  /** Runs the action when all events so far have been handled; at once if nothing is in flight. */
  void afterPendingReads(Runnable then) {
    if (busy) {
      untilLooked.add(then);
    } else {
      then.run();
    }
  }

  private void next() {
    if (!stirred) {
      List<Runnable> due = List.copyOf(untilLooked);
      untilLooked.clear();
      due.forEach(Runnable::run);
    }
    Runnable waiting = backlog.poll();
    if (waiting != null) {
      waiting.run();
      if (backlog.isEmpty()) {
        session.isUnderWay(this);
        List<Runnable> due = List.copyOf(behind);
        behind.clear();
        due.forEach(Runnable::run);
      }
    } else if (stirred) {
      stirred = false;
      look(new AttemptOperation(this::unasked, false));
    } else {
      busy = false;
      if (isAlone() && isBlank()) {
        session.drop(this);
      }
    }
  }

  /** Whether the attempt has no node, and nothing to remember. */
  abstract boolean isBlank();

  /** Whether its session knows it directly, and not as a part of another attempt. */
  boolean isAlone() {
    return true;
  }

  /** The present state of the attempt. */
  abstract AttemptState present();

  abstract void acquire(Request.Acquire request, AttemptOperation operation);

  abstract void adjust(Request.Adjust request, AttemptOperation operation);

  abstract void abandon(AttemptOperation operation);

  /** Looks, without a request, whether a wait is over. Must end the operation. */
  abstract void look(AttemptOperation operation);

  /**
   * One request or look on its way through its steps; ends exactly once. A request that takes too
   * long is answered earlier, as one that may have been executed; its steps go on.
   */
  final class AttemptOperation {
    private final Consumer<Reply> sink;
    private final boolean asked;
    private final @Nullable Future<?> timeout;
    private boolean answered;

    AttemptOperation(Consumer<Reply> sink, boolean asked) {
      this.sink = sink;
      this.asked = asked;
      this.timeout = asked ? session.afterRequestTimeout(this::giveUp) : null;
    }

    /** Whether the engine waits for the answer. If not, a notification is needed. */
    boolean isAsked() {
      return asked && !answered;
    }

    private void giveUp() {
      answer(
          new Reply.Failed(
              attempt,
              true,
              new StoreUnavailableException(
                  "ZooKeeper did not answer in time (store=" + session.storeName() + ").")));
    }

    private void answer(Reply reply) {
      if (!answered) {
        answered = true;
        session.after(() -> sink.accept(reply));
      }
    }

    void end(Reply reply) {
      if (timeout != null) {
        timeout.cancel(false);
      }
      answer(reply);
      next();
    }

    void refuse(RefusalReason refusalReason, String message) {
      end(new Reply.Refused(attempt, refusalReason, message));
    }

    void ended(AttemptState attemptState, EndReason endReason) {
      forgotten(attemptState, endReason);
      end(new Reply.Ended(attempt, attemptState, endReason, false));
    }

    /**
     * The server refused a step, or did not answer.
     *
     * @param path the node of the step
     */
    void fail(Code code, String path) {
      if (code == Code.SESSIONEXPIRED || session.isOver()) {
        end(Refusals.sessionGone(attempt));
      } else {
        KeeperException cause = KeeperException.create(code, path);
        boolean unanswered = code == Code.CONNECTIONLOSS || code == Code.OPERATIONTIMEOUT;
        String what = explain(code, path);
        end(
            new Reply.Failed(
                attempt,
                unanswered,
                code == Code.NOAUTH
                    ? new StoreUnfitException(what, cause)
                    : new StoreUnavailableException(what, cause)));
      }
    }
  }

  /** The attempt is over. */
  void forgotten(AttemptState attemptState, EndReason endReason) {
    session.forget(this, attemptState, endReason);
  }

  /** Sends the engine an unrequested notification. */
  void announce(SessionNotification sessionNotification) {
    session.tell(sessionNotification);
  }

  /** Whether the attempt still exists, so that its events matter. */
  boolean isKnown() {
    return session.knows(this);
  }

  private String explain(Code code, String path) {
    String what =
        switch (code) {
          case NOAUTH -> "does not let this client do it: check the ACL of that path";
          case CONNECTIONLOSS -> "lost the connection before it answered";
          default -> "answered " + code;
        };
    return "ZooKeeper " + what + " (store=" + session.storeName() + ", path=" + path + ").";
  }

  static String child(String directory, String node) {
    return directory + "/" + node;
  }

  static String last(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  Reply.@Nullable Holder holder(@Nullable String node) {
    // Only the server knows how long its session lives; when it ends, its nodes are deleted.
    return node == null
        ? null
        : new Reply.Holder(ProtectedNodeName.attempt(node), 0, session.ttl());
  }
}
