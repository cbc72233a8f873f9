package io.mortise.spi.document;

import io.mortise.LockName;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one session that were not answered. Those of one lock keep their order and share
 * their steps: while a step is in flight, further requests gather for the next one. A step that is
 * taken again after a failed comparison takes them in. So a process with many waiters competes with
 * other processes once.
 *
 * <p><b>Failures.</b> If the server refuses a step of several requests, each of them is sent again,
 * alone and in order: a release is not refused for an acquire that makes the document too large. If
 * the server is silent, the requests of the step are answered as failed at once, lest each of them
 * waits for a timeout. Requests that were not in a failed step are sent with the next one.
 *
 * <p>Thread-safe. Nothing is called under the lock.
 */
final class OpenRequests {
  private static final Logger log = LoggerFactory.getLogger(OpenRequests.class);

  /** The table bounds what it does for each of them (invariants.md#bounded-steps). */
  private static final int MOST_TOGETHER = 64;

  private final DocumentStore store;
  private final SessionId session;
  private final ReentrantLock guard = new ReentrantLock();

  /** By lock, while a step of it is in flight. Guarded. */
  private final Map<LockName, LockRequests> open = new HashMap<>();

  private record OpenRequest(Request request, Consumer<Reply> sink) {}

  /** The requests of one lock. Guarded. */
  private static final class LockRequests {
    /** In the order in which they came. */
    final List<OpenRequest> all = new ArrayList<>();

    /** How many of the first are in the step in flight. */
    int together;

    /** How many of the first were refused together, and are sent one by one. */
    int alone;

    List<OpenRequest> inStep() {
      return all.subList(0, together);
    }

    /** The requests of the next step, or of the same when it is taken again. */
    List<Request> batch() {
      together = alone > 0 ? 1 : Math.min(all.size(), MOST_TOGETHER);
      return inStep().stream().map(OpenRequest::request).toList();
    }

    /** Removes those of the step and returns them; none if they are to be sent one by one. */
    List<OpenRequest> answered(@Nullable Throwable failure) {
      boolean silent = failure != null && DocumentUpdater.isUnanswered(failure);
      if (failure != null && !silent && together > 1) {
        alone = together;
        return List.of();
      }
      alone = silent ? 0 : Math.max(alone - 1, 0);
      List<OpenRequest> done = List.copyOf(inStep());
      inStep().clear();
      return done;
    }
  }

  OpenRequests(DocumentStore store, SessionId session) {
    this.store = store;
    this.session = session;
  }

  /** Sends a request now, or with the next step of its lock. */
  void add(Request request, Consumer<Reply> sink) {
    LockName name = request.name();
    OpenRequest added = new OpenRequest(request, sink);
    if (!store.rules().keepsOrderOfRequests()) {
      CompletionStages.start(() -> store.requests(name, session, () -> List.of(request)))
          .whenComplete((replies, failure) -> deliver(List.of(added), replies, failure));
      return;
    }
    boolean inFlight;
    guard.lock();
    try {
      inFlight = open.containsKey(name);
      open.computeIfAbsent(name, unused -> new LockRequests()).all.add(added);
    } finally {
      guard.unlock();
    }
    if (!inFlight) {
      send(name);
    }
  }

  private void send(LockName name) {
    // The step may fail by its read, before it is taken.
    batch(name);
    CompletionStages.start(() -> store.requests(name, session, () -> batch(name)))
        .whenComplete((replies, failure) -> answered(name, replies, failure));
  }

  private List<Request> batch(LockName name) {
    guard.lock();
    try {
      return Objects.requireNonNull(open.get(name)).batch();
    } finally {
      guard.unlock();
    }
  }

  /** A step was taken, or has failed. */
  private void answered(LockName name, @Nullable List<Reply> replies, @Nullable Throwable failure) {
    List<OpenRequest> done;
    guard.lock();
    try {
      done = Objects.requireNonNull(open.get(name)).answered(failure);
    } finally {
      guard.unlock();
    }
    deliver(done, replies, failure);
    boolean more;
    guard.lock();
    try {
      more = !Objects.requireNonNull(open.get(name)).all.isEmpty();
      if (!more) {
        open.remove(name);
      }
    } finally {
      guard.unlock();
    }
    if (more) {
      send(name);
    }
  }

  private static void deliver(
      List<OpenRequest> done, @Nullable List<Reply> replies, @Nullable Throwable failure) {
    for (int i = 0; i < done.size(); i++) {
      OpenRequest asked = done.get(i);
      // A write without an answer may have been made; so may a note that came before it.
      Reply reply =
          replies == null
              ? new Reply.Failed(asked.request().attempt(), true, CompletionStages.cause(failure))
              : replies.get(i);
      try {
        asked.sink().accept(reply);
      } catch (RuntimeException | Error e) {
        // The others must get their answers all the same.
        log.error(
            "What follows from a reply about lock '{}' could not be done.",
            asked.request().name(),
            e);
      }
    }
  }
}
