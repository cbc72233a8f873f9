package io.mortise.zookeeper;

import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.function.Consumer;

/** A request that the engine has submitted, until it is answered. Guarded by its session. */
final class PendingRequest {
  final Request request;
  final long since;

  /** Whether nobody waits for the answer, so that it may be sent together with others. */
  final boolean later;

  private final Consumer<Reply> sink;
  private boolean answered;

  PendingRequest(Request request, long since, boolean later, Consumer<Reply> sink) {
    this.request = request;
    this.since = since;
    this.later = later;
    this.sink = sink;
  }

  AttemptId attempt() {
    return request.attempt();
  }

  boolean isAcquire() {
    return request instanceof Request.Acquire;
  }

  boolean isAbandon() {
    return request instanceof Request.Abandon;
  }

  boolean isAnswered() {
    return answered;
  }

  /** Only the first answer counts. Returns whether this one is it. */
  boolean markAnswered() {
    boolean first = !answered;
    answered = true;
    return first;
  }

  /** Under no lock: gives the answer to the engine. */
  void deliver(Reply reply) {
    sink.accept(reply);
  }
}
