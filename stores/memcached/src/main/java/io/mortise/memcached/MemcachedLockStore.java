package io.mortise.memcached;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import io.mortise.support.expiring.ExpiringKeySession;
import io.mortise.support.expiring.ExpiringKeyStore;
import io.mortise.support.internal.server.TlsProbe;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Locks in one server: by one connection for requests, and one for renewals. Thread-safe. */
final class MemcachedLockStore extends ExpiringKeyStore {
  static final Duration MIN_TTL = Duration.ofSeconds(1);

  /** For how long a server that cannot be used is asked whether it speaks TLS. */
  private static final Duration PROBE = Duration.ofSeconds(1);

  /**
   * With the time that an item gets on top, the longest that memcached does not take for a date.
   */
  static final Duration MAX_TTL = Duration.ofDays(29);

  private final MemcachedTarget target;
  private final Ticker ticker;
  private final MetaTransport requests;
  private final MetaTransport renewals;
  private final MemcachedKeys keys;

  /** Those that are open. */
  private final Map<SessionId, MemcachedSession> sessions = new ConcurrentHashMap<>();

  /** Begins to connect; {@link #firstTry} tells what came of it. */
  MemcachedLockStore(MemcachedTarget target, Ticker ticker) {
    this.target = target;
    this.ticker = ticker;
    String thread = "mortise-memcached-" + target.server();
    ServerClockReader clock = new ServerClockReader(target, ticker);
    this.requests =
        new MetaTransport(target, thread, ticker, clock::checkRequests, this::suspectOther);
    this.renewals =
        new MetaTransport(target, thread + "-renewals", ticker, clock, this::suspectRestart);
    this.keys =
        new MemcachedKeys(
            target,
            profile(target.toString(), target),
            ticker,
            requests,
            renewals,
            clock,
            this::notifyHolder);
  }

  /** Another server may answer requests than renewals, which the next renewal finds out. */
  private void suspectOther() {
    if (renewals.connection() != null) {
      suspectRestart();
    }
  }

  /** The server may have been restarted. */
  private void suspectRestart() {
    sessions.values().forEach(session -> session.renewNow.run());
  }

  /** Another session has met the hold of one. */
  private void notifyHolder(SessionNotification.Contended contended) {
    MemcachedSession holder = sessions.get(contended.attempt().session());
    if (holder != null) {
      holder.hints.accept(contended);
    }
  }

  /** The profile of such a store. */
  static StoreProfile profile(String display, MemcachedTarget target) {
    return new StoreProfile(display, Set.of(), target.timeout(), MIN_TTL, MemcachedKeys.EXPIRY_LAG);
  }

  /** Completes when both connections were tried; exceptionally if one could not be made. */
  CompletableFuture<Void> firstTry() {
    return CompletableFuture.allOf(requests.firstTry(), renewals.firstTry());
  }

  @Override
  public StoreProfile profile() {
    return keys.profile();
  }

  @Override
  public void checkTtl(Duration ttl) {
    super.checkTtl(ttl);
    if (ttl.compareTo(MAX_TTL) > 0) {
      throw new IllegalArgumentException(
          "A session TTL of %s is longer than store '%s' can keep. Give at most %s."
              .formatted(DurationText.formatExact(ttl), this, DurationText.formatExact(MAX_TTL)));
    }
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    MemcachedSession session = new MemcachedSession(spec, hints);
    sessions.put(spec.id(), session);
    return session;
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    requests.helpWhileWaiting(done, longest);
  }

  /** Renews at once after each outage, so that a lock that was forgotten is soon lost here too. */
  private final class MemcachedSession extends ExpiringKeySession {
    private final Consumer<SessionNotification> hints;
    private volatile Runnable renewNow = () -> {};

    MemcachedSession(SessionSpec spec, Consumer<SessionNotification> hints) {
      super(keys, ticker, spec);
      this.hints = hints;
    }

    @Override
    public void onSuspectedRestart(Runnable renewNow) {
      this.renewNow = renewNow;
    }

    @Override
    public CompletionStage<Void> close() {
      sessions.remove(id(), this);
      return super.close();
    }
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName name = query.name() == null ? null : LockName.of(query.name());
    if (name == null) {
      return refused("cannot list locks: look at one by its name");
    }
    return translated(keys.view(name).thenApply(view -> new Page<>(view.stream().toList(), null)));
  }

  private <T> CompletionStage<T> translated(CompletableFuture<T> answer) {
    return answer.exceptionallyCompose(
        failure -> {
          Throwable cause = CompletionStages.cause(failure);
          return CompletableFuture.failedFuture(
              cause instanceof MetaException meta ? keys.unavailable(meta) : cause);
        });
  }

  @Override
  protected String inServer(LockName name) {
    return "the item '" + keys.key(name) + "'";
  }

  @Override
  public UnsupportedByStoreException factsRefusal() {
    return refusal(
        "keeps nothing but locks (FACTS). Once, latches and barriers need a store that remembers:"
            + " jdbc:, redis:, zk:, etcd: or mem:");
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return translated(
        renewals
            .call(List.of(MetaCommand.classic("stats settings"), MetaCommand.classic("stats")))
            .thenApply(
                replies ->
                    ServerSettings.report(
                        replies.get(0).statistics(), replies.get(1).statistics())));
  }

  /** The failure of the first try, for users. Blocks, for seconds at most. */
  RuntimeException unreachable(Throwable failure) {
    Throwable cause = CompletionStages.cause(failure);
    if (cause instanceof RuntimeException unfit) {
      return unfit;
    }
    // It hangs up, or takes the request for a handshake and waits for the rest.
    InetSocketAddress server = new InetSocketAddress(target.host(), target.port());
    return TlsProbe.askInTls(server, PROBE) == TlsProbe.ProbeAnswer.YES
        ? MetaConnection.speaksTls(target, cause)
        : new StoreUnavailableException(
            "Memcached cannot be reached (store=%s): %s. Check that it runs, and that this host reaches it."
                .formatted(target, FailureText.withoutFullStop(FailureText.said(cause))),
            cause);
  }

  @Override
  public void close() {
    requests.close();
    renewals.close();
  }

  @Override
  public String toString() {
    return target.toString();
  }
}
