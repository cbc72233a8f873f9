package io.mortise.testkit.contract.differential;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.AttemptState;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The reference of stores without sessions ({@link io.mortise.spi.Capability#SESSION}): keys, each
 * with the attempt that wrote it. It corresponds to the lock table of other stores, but keys do not
 * remember ended attempts: an attempt that retries after its end is granted again, and an end is
 * reported once. For {@link io.mortise.testkit.StoreUnderTest#reference}.
 *
 * <p>Time stands still; no key expires. Not thread-safe.
 */
public final class ExpiringKeyTable implements LockStore {
  private static final StoreProfile PROFILE =
      new StoreProfile("keys", Set.of(), Duration.ZERO, Duration.ZERO, Duration.ZERO);

  private final Map<LockName, Key> keys = new TreeMap<>(Comparator.comparing(LockName::value));

  private record Key(AttemptId attempt, Duration ttl) {}

  /** A table without keys. */
  public ExpiringKeyTable() {}

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return new Session(spec);
  }

  private boolean has(LockName name, AttemptId attempt) {
    Key key = keys.get(name);
    return key != null && key.attempt().equals(attempt);
  }

  /** A session is known to its own process only. */
  private final class Session implements StoreSession {
    private final SessionSpec spec;
    private final Map<AttemptId, LockName> granted = new HashMap<>();
    private final Map<Long, SessionNotification.HoldEnded> holdEnded = new TreeMap<>();
    private long told;
    private long beat;
    private boolean created;
    private boolean closed;

    Session(SessionSpec spec) {
      this.spec = spec;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      sink.accept(PROFILE.refusal(request).map(Reply.class::cast).orElseGet(() -> apply(request)));
    }

    private Reply apply(Request request) {
      AttemptId attempt = request.attempt();
      if (request instanceof Request.Abandon) {
        granted.remove(attempt);
        holdEnded.values().removeIf(notifications -> notifications.attempt().equals(attempt));
        return has(request.name(), attempt) && keys.remove(request.name()) != null
            ? new Reply.Ended(attempt, AttemptState.HELD, EndReason.RELEASED, false)
            : new Reply.Ended(attempt, AttemptState.ABSENT, EndReason.UNKNOWN, false);
      } else if (closed || !created) {
        return new Reply.Refused(attempt, RefusalReason.SESSION_GONE, "not open");
      } else if (request instanceof Request.Adjust) {
        return has(request.name(), attempt)
            ? grant(attempt)
            : new Reply.Refused(attempt, RefusalReason.NOT_HELD, "not held");
      }
      Key key = keys.putIfAbsent(request.name(), new Key(attempt, spec.ttl()));
      if (key != null && !key.attempt().equals(attempt)) {
        return new Reply.Busy(
            attempt,
            new Reply.Holder(key.attempt(), 0, key.ttl()),
            key.ttl().plus(PROFILE.expiryLag()));
      }
      granted.put(attempt, request.name());
      return grant(attempt);
    }

    private static Reply grant(AttemptId attempt) {
      return new Reply.Granted(attempt, 0, 1, true, null, null);
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      String refusal =
          closed
              ? "closed"
              : created ? (previous == beat || next == beat ? null : "a clone") : opens(previous);
      if (refusal != null) {
        return done(new Renewal.Lost(refusal));
      }
      created = true;
      beat = next;
      seen.forEach(holdEnded::remove);
      Map.copyOf(granted)
          .forEach(
              (attempt, name) -> {
                if (!has(name, attempt)) {
                  granted.remove(attempt);
                  holdEnded.put(
                      ++told, new SessionNotification.HoldEnded(name, attempt, EndReason.UNKNOWN));
                }
              });
      List<Renewal.NumberedNotification> notifications = new ArrayList<>();
      holdEnded.forEach((id, one) -> notifications.add(new Renewal.NumberedNotification(id, one)));
      return done(new Renewal.Renewed(0, notifications, false, ""));
    }

    private static @Nullable String opens(long previous) {
      return previous == 0 ? null : "not opened here";
    }

    @Override
    public CompletionStage<Void> close() {
      closed = true;
      granted.forEach(
          (attempt, name) -> {
            if (has(name, attempt)) {
              keys.remove(name);
            }
          });
      granted.clear();
      return CompletableFuture.completedFuture(null);
    }
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    LockName only = query.name() == null ? null : LockName.of(query.name());
    return done(
        new Page<>(
            keys.entrySet().stream()
                .filter(entry -> only == null || only.equals(entry.getKey()))
                .map(entry -> view(entry.getKey(), entry.getValue()))
                .toList(),
            null));
  }

  private static LockInfo view(LockName name, Key key) {
    LockParticipant holder =
        key.attempt()
            .participant(
                new ClientLabel("-", 0, key.attempt().encoded()),
                "",
                Mode.share(Mode.SHARERS, Mode.SHARERS),
                0,
                Duration.ZERO,
                key.ttl(),
                null,
                Duration.ZERO,
                null);
    return new LockInfo(
        name.value(),
        Mode.permits(Mode.SHARERS),
        0,
        Duration.ZERO,
        List.of(holder),
        List.of(),
        1,
        0,
        null);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return unsupported();
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return unsupported();
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return unsupported();
  }

  private static <T> CompletionStage<T> unsupported() {
    return CompletableFuture.failedFuture(new UnsupportedByStoreException("Not with keys."));
  }

  private static <T> CompletionStage<T> done(T answer) {
    return CompletableFuture.completedFuture(answer);
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return done(0);
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return done(StoreReport.about("keys").build());
  }

  @Override
  public void close() {}
}
