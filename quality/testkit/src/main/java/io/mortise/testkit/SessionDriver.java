package io.mortise.testkit;

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
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process as a store sees it, driven by hand: a session, its attempts and its notifications.
 * Every method waits for the store's answer, and fails the test if there is none in time. For one
 * thread.
 */
public final class SessionDriver {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SessionSpec spec;
  private final StoreSession session;
  private final RecordingConsumer<SessionNotification> hints = new RecordingConsumer<>();
  private final List<Long> seen = new ArrayList<>();
  private long beat;
  private long attempts;

  private SessionDriver(LockStore store, SessionSpec spec) {
    this.spec = spec;
    this.session = store.open(spec, hints);
  }

  /** Prepares a session that the store does not know yet. */
  public static SessionDriver prepare(LockStore store, Duration ttl, String client) {
    return new SessionDriver(
        store,
        new SessionSpec(SessionId.random(RANDOM), ttl, new ClientLabel("testhost", 4711, client)));
  }

  /**
   * Returns the same session once more, for requests that were sent before a close and arrive after
   * it.
   */
  public SessionDriver twin(LockStore store) {
    SessionDriver twin = new SessionDriver(store, spec);
    twin.beat = beat;
    twin.attempts = attempts + 1_000_000;
    return twin;
  }

  /** Opens a session that lives in the store. */
  public static SessionDriver open(LockStore store, Duration ttl, String client) {
    SessionDriver driver = prepare(store, ttl, client);
    Renewal renewal = driver.renew();
    if (!(renewal instanceof Renewal.Renewed)) {
      throw new AssertionError("The first renewal was answered " + renewal + ".");
    }
    return driver;
  }

  /** The session's id. */
  public SessionId id() {
    return spec.id();
  }

  /** The time that the session lives without a renewal. */
  public Duration ttl() {
    return spec.ttl();
  }

  /** The session itself. */
  public StoreSession session() {
    return session;
  }

  /** The last beat that the store confirmed. */
  public long beat() {
    return beat;
  }

  /** An attempt id of this session that was not used before. */
  public AttemptId attempt() {
    return new AttemptId(id(), ++attempts);
  }

  /** Submits any request and waits for its one answer. */
  public Reply ask(Request request) {
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    long began = System.nanoTime();
    session.submit(request, replies);
    List<Reply> all = replies.await(1);
    PauseDetector.answered(System.nanoTime() - began);
    if (all.size() != 1 || !all.get(0).attempt().equals(request.attempt())) {
      throw new AssertionError(request + " was answered " + all + ".");
    }
    return all.get(0);
  }

  /** Acquires without a place in the queue. */
  public Reply acquire(LockName name, AttemptId attempt, Mode mode) {
    return ask(new Request.Acquire(name, attempt, mode, false, HoldTerms.NONE, 1, 0, null));
  }

  /** Acquires, or waits in the store's queue. */
  public Reply enqueue(LockName name, AttemptId attempt, Mode mode) {
    return ask(new Request.Acquire(name, attempt, mode, true, HoldTerms.NONE, 1, 0, null));
  }

  /** Acquires with the proof that a session is dead. */
  public Reply take(LockName name, AttemptId attempt, Mode mode, boolean queue, SessionId dead) {
    return ask(new Request.Acquire(name, attempt, mode, queue, HoldTerms.NONE, 1, 0, dead));
  }

  /** Acquires under a fresh attempt, which must be granted at once. */
  public Reply.Granted hold(LockName name, Mode mode) {
    return hold(name, mode, HoldTerms.NONE);
  }

  /** Acquires under a fresh attempt with terms, which must be granted at once. */
  public Reply.Granted hold(LockName name, Mode mode, HoldTerms terms) {
    Reply reply = ask(new Request.Acquire(name, attempt(), mode, false, terms, 1, 0, null));
    if (reply instanceof Reply.Granted granted) {
      return granted;
    }
    throw new AssertionError("Expected a grant of '" + name + "', not " + reply + ".");
  }

  /** Acquires under so many fresh attempts at once, which must be granted; returns them. */
  public List<AttemptId> holdMany(LockName name, Mode mode, int count) {
    RecordingConsumer<Reply> replies = new RecordingConsumer<>();
    List<AttemptId> holding = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      AttemptId attempt = attempt();
      holding.add(attempt);
      session.submit(
          new Request.Acquire(name, attempt, mode, false, HoldTerms.NONE, 1, 0, null), replies);
    }
    List<Reply> all = replies.await(count);
    if (!all.stream().allMatch(Reply.Granted.class::isInstance)) {
      throw new AssertionError("Expected grants of '" + name + "', not " + all + ".");
    }
    return holding;
  }

  /** Waits in the queue under a fresh attempt, which must not be granted. */
  public AttemptId queued(LockName name, Mode mode) {
    AttemptId attempt = attempt();
    Reply reply = enqueue(name, attempt, mode);
    if (reply instanceof Reply.Queued) {
      return attempt;
    }
    throw new AssertionError("Expected to wait for '" + name + "', not " + reply + ".");
  }

  /** Ends an attempt, repeating the request while there is more to do. */
  public Reply.Ended end(LockName name, AttemptId attempt) {
    Reply.Ended first = (Reply.Ended) ask(new Request.Abandon(name, attempt));
    for (Reply.Ended reply = first; reply.more(); ) {
      reply = (Reply.Ended) ask(new Request.Abandon(name, attempt));
    }
    return first;
  }

  /** Adjusts a hold. */
  public Reply adjust(LockName name, AttemptId attempt, Mode mode, HoldTerms terms, int tokens) {
    return ask(new Request.Adjust(name, attempt, mode, terms, tokens, 0));
  }

  /** Renews once, and applies the beat and the notifications. */
  public Renewal renew() {
    Renewal renewal = renew(beat, beat + 1, List.copyOf(seen));
    if (renewal instanceof Renewal.Renewed renewed) {
      beat++;
      seen.clear();
      renewed.notifications().forEach(item -> seen.add(item.id()));
    }
    return renewal;
  }

  /** Renews once for a shorter time than the session's own, as {@link #renew()} does. */
  public Renewal renew(Duration ttl) {
    Renewal renewal = BoundedWait.join(session.renew(beat, beat + 1, List.copyOf(seen), ttl));
    if (renewal instanceof Renewal.Renewed renewed) {
      beat++;
      seen.clear();
      renewed.notifications().forEach(item -> seen.add(item.id()));
    }
    return renewal;
  }

  /** Renews with any beat, and applies nothing. */
  public Renewal renew(long previous, long next, List<Long> acknowledged) {
    long began = System.nanoTime();
    Renewal renewal = BoundedWait.join(session.renew(previous, next, acknowledged));
    PauseDetector.answered(System.nanoTime() - began);
    return renewal;
  }

  /** Renews while there is more, and returns the new notifications. */
  public List<SessionNotification> notifications() {
    List<SessionNotification> sessionNotification = new ArrayList<>();
    boolean more = true;
    while (more) {
      Renewal renewal = renew();
      if (!(renewal instanceof Renewal.Renewed renewed)) {
        throw new AssertionError("A renewal was answered " + renewal + ".");
      }
      renewed.notifications().forEach(item -> sessionNotification.add(item.notification()));
      more = renewed.more();
    }
    return sessionNotification;
  }

  /** The pushes of the store so far. */
  public RecordingConsumer<SessionNotification> hints() {
    return hints;
  }

  /** Closes the session in the store, which ends it with all its holds and waits. */
  public void close() {
    BoundedWait.join(session.close());
  }

  @Override
  public String toString() {
    return spec.client().name();
  }
}
