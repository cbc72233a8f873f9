package io.mortise.support.memory;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.table.LockRecord;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store in this process's memory: the lock table under one short lock. Answers on the caller's
 * thread. Its clock starts at the time of day and then runs with the ticker, so steps of the clock
 * do not touch it.
 */
public final class MemStore implements LockStore {
  private final ReentrantLock guard = new ReentrantLock();
  private final MemLockTable table;
  private final MemFacts facts = new MemFacts();
  private final Map<SessionId, Consumer<SessionNotification>> listeners = new ConcurrentHashMap<>();
  private final StoreProfile profile;
  private final CapabilityMask capabilityMask;
  private final Ticker ticker;
  private final long offsetMicros;

  /** An empty store with all capabilities. */
  public MemStore(Ticker ticker, InstantSource wall) {
    this("mem", ticker, wall);
  }

  /** An empty store with a name for messages. */
  MemStore(String display, Ticker ticker, InstantSource wall) {
    this(display, EnumSet.allOf(Capability.class), ticker, wall.millis() * 1000, TableRules.ALL);
  }

  /** A store with the given capabilities, clock and rules. */
  public MemStore(Set<Capability> capabilities, Ticker ticker, long startMicros, TableRules rules) {
    this("mem", capabilities, ticker, startMicros, rules);
  }

  private MemStore(
      String display,
      Set<Capability> capabilities,
      Ticker ticker,
      long startMicros,
      TableRules rules) {
    this.profile =
        new StoreProfile(
            display, capabilities, Duration.ZERO, Duration.ofMillis(1), Duration.ofMillis(1));
    this.capabilityMask = new CapabilityMask(profile);
    this.table = new MemLockTable(rules, capabilities);
    this.ticker = ticker;
    this.offsetMicros = startMicros - TimeUnit.NANOSECONDS.toMicros(ticker.nanos());
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    listeners.put(spec.id(), hints);
    connected(spec.id(), true);
    return new MemSession(spec);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    if (!profile.can(Capability.SESSION)) {
      return CompletableFuture.failedFuture(
          new UnsupportedByStoreException("Store '" + profile.display() + "' keeps no sessions."));
    }
    return CompletableFuture.completedFuture(step(now -> table.judge(session, now)));
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return CompletableFuture.completedFuture(step(now -> table.inspect(query, now)));
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return profile.can(Capability.SESSION)
        ? CompletableFuture.completedFuture(step(now -> table.sessions(cursor, limit, now)))
        : LockStore.super.sessions(cursor, limit);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return operator(now -> table.evict(name, attempt, how, now));
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return operator(now -> table.reopen(name, now));
  }

  /** Loses a record, as if it had never been written: for simulations of servers that forget. */
  public void forget(LockName name) {
    step(
        now -> {
          table.forget(name);
          return true;
        });
  }

  /** Sets whether a session's process has a connection: for tests. */
  public void connected(SessionId session, boolean connected) {
    step(
        now -> {
          table.connected(session, connected);
          return true;
        });
  }

  private <T> CompletionStage<T> operator(Function<Long, T> step) {
    if (!profile.can(Capability.EVICT)) {
      return CompletableFuture.failedFuture(
          new UnsupportedByStoreException("Store '" + profile.display() + "' cannot evict."));
    }
    return CompletableFuture.completedFuture(step(step));
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return profile.can(Capability.FACTS)
        ? CompletableFuture.completedFuture(step(now -> facts.read(name, now)))
        : LockStore.super.readFact(name);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return profile.can(Capability.FACTS)
        ? CompletableFuture.completedFuture(
            step(now -> facts.replace(name, version, content, LockRecord.micros(keep), now)))
        : LockStore.super.replaceFact(name, version, content, keep);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return CompletableFuture.completedFuture(
        step(now -> facts.sweep(now) + table.sweep(budget, now)));
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return CompletableFuture.completedFuture(
        StoreReport.about("mem")
            .fine(
                "process", "this one", "The locks are seen in this process only, and end with it.")
            .build());
  }

  @Override
  public void close() {}

  private <T> T step(Function<Long, T> step) {
    record PendingPush(SessionId session, SessionNotification notification) {}
    List<PendingPush> pushes = new ArrayList<>();
    T result;
    guard.lock();
    try {
      result = step.apply(offsetMicros + TimeUnit.NANOSECONDS.toMicros(ticker.nanos()));
      table.drainNotifications(
          (session, notifications) -> pushes.add(new PendingPush(session, notifications)));
    } finally {
      guard.unlock();
    }
    if (profile.can(Capability.PUSH)) {
      for (PendingPush pendingPush : pushes) {
        Consumer<SessionNotification> listener = listeners.get(pendingPush.session());
        if (listener != null && capabilityMask.tells(pendingPush.notification())) {
          listener.accept(pendingPush.notification());
        }
      }
    }
    return result;
  }

  private final class MemSession implements StoreSession {
    private final SessionSpec spec;

    MemSession(SessionSpec spec) {
      this.spec = spec;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      Reply refusal = profile.refusal(request).orElse(null);
      sink.accept(
          refusal != null
              ? refusal
              : step(
                  now ->
                      capabilityMask.reply(request, apply(capabilityMask.request(request), now))));
    }

    /** Without sessions that others judge, an expired hold is free for all. */
    private Reply apply(Request request, long now) {
      Reply reply = table.apply(request, now);
      SessionId over = capabilityMask.over(reply);
      if (over != null && request instanceof Request.Acquire acquire) {
        table.judge(over, now);
        return table.apply(capabilityMask.proven(acquire, over), now);
      }
      return reply;
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      return CompletableFuture.completedFuture(
          step(now -> capabilityMask.renewal(table.renew(spec, previous, next, seen, ttl, now))));
    }

    @Override
    public CompletionStage<Void> close() {
      step(
          now -> {
            table.close(spec.id());
            table.settle(now);
            return true;
          });
      listeners.remove(spec.id());
      return CompletableFuture.completedFuture(null);
    }
  }
}
