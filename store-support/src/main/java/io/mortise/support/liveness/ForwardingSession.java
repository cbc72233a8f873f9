package io.mortise.support.liveness;

import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A session that forwards all calls to another, as {@link ForwardingStore} does. */
public abstract class ForwardingSession implements StoreSession {
  private final StoreSession session;

  /** A session in front of the given one. */
  protected ForwardingSession(StoreSession session) {
    this.session = session;
  }

  @Override
  public SessionId id() {
    return session.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    session.submit(request, sink);
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    session.submitLater(request, sink);
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return session.renew(previous, next, seen);
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    return session.renew(previous, next, seen, ttl);
  }

  @Override
  public void onSuspectedRestart(Runnable renewNow) {
    session.onSuspectedRestart(renewNow);
  }

  @Override
  public void onConnectionLost(Consumer<String> lost) {
    session.onConnectionLost(lost);
  }

  @Override
  public boolean isJudgedByBeat() {
    return session.isJudgedByBeat();
  }

  @Override
  public boolean receivesPushes() {
    return session.receivesPushes();
  }

  @Override
  public Duration callBackDelay() {
    return session.callBackDelay();
  }

  @Override
  public CompletionStage<Void> lookForCallBacks() {
    return session.lookForCallBacks();
  }

  @Override
  public CompletionStage<Void> close() {
    return session.close();
  }
}
