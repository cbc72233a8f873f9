package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A session that blocks for its answers. */
public final class TestSession {
  public static final HoldTerms NO_TERMS = HoldTerms.NONE;

  public final StoreSession session;
  public final LinkedBlockingQueue<SessionNotification> hints = new LinkedBlockingQueue<>();
  private long beat;
  private long attempts;

  public TestSession(LockStore store, Duration ttl) {
    this(store, SessionId.random(new Random(System.nanoTime())), ttl);
  }

  public TestSession(LockStore store, SessionId id, Duration ttl) {
    session = store.open(new SessionSpec(id, ttl, new ClientLabel("host", 1, "test")), hints::add);
    assertThat(renew()).isInstanceOf(Renewal.Renewed.class);
  }

  public SessionId id() {
    return session.id();
  }

  public AttemptId attempt() {
    return new AttemptId(id(), ++attempts);
  }

  public Renewal renew(Long... seen) {
    long next = beat + 10;
    Renewal renewal = get(session.renew(beat, next, List.of(seen)));
    if (renewal instanceof Renewal.Renewed) {
      beat = next;
    }
    return renewal;
  }

  public List<SessionNotification> notifications() {
    Renewal.Renewed renewed = (Renewal.Renewed) renew();
    renew(
        renewed.notifications().stream()
            .map(Renewal.NumberedNotification::id)
            .toArray(Long[]::new));
    return renewed.notifications().stream()
        .map(Renewal.NumberedNotification::notification)
        .toList();
  }

  public Reply acquire(String name, AttemptId attempt) {
    return acquire(name, attempt, Mode.EXCLUSIVE, true);
  }

  public Reply acquire(String name, AttemptId attempt, Mode mode, boolean queue) {
    return submit(request(name, attempt, mode, queue, NO_TERMS, null));
  }

  public static Request.Acquire request(
      String name, AttemptId attempt, Mode mode, boolean queue, HoldTerms terms, SessionId dead) {
    return new Request.Acquire(LockName.of(name), attempt, mode, queue, terms, 1, 0, dead);
  }

  public Reply.Granted granted(String name, AttemptId attempt) {
    Reply reply = acquire(name, attempt);
    assertThat(reply).isInstanceOf(Reply.Granted.class);
    return (Reply.Granted) reply;
  }

  public Reply.Ended abandon(String name, AttemptId attempt) {
    return (Reply.Ended) submit(new Request.Abandon(LockName.of(name), attempt));
  }

  public Reply submit(Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(request, reply::complete);
    return get(reply);
  }

  public static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer", e);
    } catch (java.util.concurrent.ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }
}
