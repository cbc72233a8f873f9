package io.mortise.zookeeper.internal.queue;

import io.mortise.StoreUnavailableException;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.function.Consumer;

/** A request that the engine has submitted, until it is answered. Guarded by its session. */
public final class PendingRequest {
  public final Request request;
  final long since;

  /** Whether no caller waits for the answer, so that it may be sent together with others. */
  final boolean later;

  private final Consumer<Reply> sink;
  private boolean answered;

  public PendingRequest(Request request, long since, boolean later, Consumer<Reply> sink) {
    this.request = request;
    this.since = since;
    this.later = later;
    this.sink = sink;
  }

  public AttemptId attempt() {
    return request.attempt();
  }

  boolean isAcquire() {
    return request instanceof Request.Acquire;
  }

  public boolean isAbandon() {
    return request instanceof Request.Abandon;
  }

  boolean isAnswered() {
    return answered;
  }

  /** Only the first answer counts. Returns whether this is the first. */
  public boolean markAnswered() {
    boolean first = !answered;
    answered = true;
    return first;
  }

  /** The answer to give if the server has not answered. */
  public Reply.Failed unanswered(String display, boolean mayHaveRun, String why) {
    return new Reply.Failed(
        attempt(),
        mayHaveRun,
        new StoreUnavailableException("ZooKeeper did not answer (store=" + display + "): " + why));
  }

  /** Called without a lock: passes the answer to the engine. */
  public void deliver(Reply reply) {
    sink.accept(reply);
  }
}
