package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.time.Ticker;
import io.mortise.support.expiring.ExpiringKeySession;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A session over keys, whose waiters listen for the end of their keys. */
final class PlainSession extends ExpiringKeySession {
  private final PlainKeys keys;
  private final SessionSpec spec;
  private final KeyWaiters waiters;

  PlainSession(
      PlainKeys keys,
      KeyspaceListener listener,
      Ticker ticker,
      SessionSpec spec,
      Consumer<SessionNotification> hints) {
    super(keys, ticker, spec);
    this.keys = keys;
    this.spec = spec;
    this.waiters = new KeyWaiters(listener, ticker, hints);
  }

  @Override
  protected void refused(AttemptId attempt, LockName name) {
    waiters.refused(attempt, name, keys.key(name));
  }

  @Override
  protected void over(AttemptId attempt) {
    waiters.over(attempt);
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    waiters.sweep(spec.ttl());
    return super.renew(previous, next, seen);
  }

  @Override
  public CompletionStage<Void> close() {
    waiters.close();
    return super.close();
  }
}
