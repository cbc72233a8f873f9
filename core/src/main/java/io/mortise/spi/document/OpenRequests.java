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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one session that were not answered. Those of one lock keep their order and share
 * their steps: while a step is in flight, further requests gather for the next one. A step that is
 * taken again after a failed comparison takes them in. So a process with many waiters competes with
 * other processes once, and a release never waits behind acquires that fail.
 *
 * <p>Thread-safe. Nothing is called under the lock.
 */
final class OpenRequests {
  /** The table bounds what it does for each of them (invariants.md#bounded-steps). */
  private static final int MOST_TOGETHER = 64;

  private final DocumentStore store;
  private final SessionId session;
  private final ReentrantLock guard = new ReentrantLock();

  /** By lock, while a step of it is in flight; in the order in which they came. Guarded. */
  private final Map<LockName, List<OpenRequest>> open = new HashMap<>();

  private record OpenRequest(Request request, Consumer<Reply> sink) {}

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
          .whenComplete((replies, failure) -> answer(List.of(added), replies, failure));
      return;
    }
    boolean inFlight;
    guard.lock();
    try {
      inFlight = open.containsKey(name);
      open.computeIfAbsent(name, unused -> new ArrayList<>()).add(added);
    } finally {
      guard.unlock();
    }
    if (!inFlight) {
      send(name);
    }
  }

  private void send(LockName name) {
    CompletionStages.start(() -> store.requests(name, session, () -> next(name)))
        .whenComplete((replies, failure) -> answered(name, replies, failure));
  }

  private List<Request> next(LockName name) {
    guard.lock();
    try {
      return Objects.requireNonNull(open.get(name)).stream()
          .limit(MOST_TOGETHER)
          .map(OpenRequest::request)
          .toList();
    } finally {
      guard.unlock();
    }
  }

  /**
   * A step was taken with the first of the requests; or it failed, and with it all that have come.
   */
  private void answered(LockName name, @Nullable List<Reply> replies, @Nullable Throwable failure) {
    List<OpenRequest> done;
    guard.lock();
    try {
      List<OpenRequest> all = Objects.requireNonNull(open.get(name));
      List<OpenRequest> first = replies == null ? all : all.subList(0, replies.size());
      done = List.copyOf(first);
      first.clear();
    } finally {
      guard.unlock();
    }
    answer(done, replies, failure);
    boolean more;
    guard.lock();
    try {
      more = !Objects.requireNonNull(open.get(name)).isEmpty();
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

  private static void answer(
      List<OpenRequest> done, @Nullable List<Reply> replies, @Nullable Throwable failure) {
    for (int i = 0; i < done.size(); i++) {
      OpenRequest asked = done.get(i);
      // A write without an answer may have been made; so may a note that came before it.
      Reply reply =
          replies == null
              ? new Reply.Failed(asked.request().attempt(), true, CompletionStages.cause(failure))
              : replies.get(i);
      // One that throws must not keep the others from their answers.
      var unused = CompletableFuture.completedFuture(reply).thenAccept(asked.sink());
    }
  }
}
