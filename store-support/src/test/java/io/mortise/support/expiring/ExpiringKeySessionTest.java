package io.mortise.support.expiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The keys that a renewal extends, with a server that answers by hand. */
class ExpiringKeySessionTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  private long now;
  private final ByHand server = new ByHand();
  private final SessionId id = new SessionId("A".repeat(SessionId.LENGTH));
  private final ExpiringKeySession session =
      new ExpiringKeySession(
          server, () -> now, new SessionSpec(id, TTL, new ClientLabel("h", 1, "x")));

  private static final class ByHand implements ExpiringKeys {
    final Deque<CompletableFuture<Boolean>> clocks = new ArrayDeque<>();
    final List<AttemptKey> extended = new ArrayList<>();

    @Override
    public StoreProfile profile() {
      return new StoreProfile("by hand", Set.of(), TTL, Duration.ofSeconds(1), Duration.ZERO);
    }

    @Override
    public CompletableFuture<TakenKey> take(LockName name, AttemptId attempt, SessionSpec spec) {
      return CompletableFuture.completedFuture(TakenKey.TAKEN);
    }

    @Override
    public CompletableFuture<List<Boolean>> extend(List<AttemptKey> keys, Duration ttl) {
      extended.addAll(keys);
      return CompletableFuture.completedFuture(Collections.nCopies(keys.size(), true));
    }

    @Override
    public CompletableFuture<?> beforeRenewal() {
      clocks.add(new CompletableFuture<>());
      return clocks.getLast();
    }

    @Override
    public CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl) {
      return extend(keys, ttl).thenApply(answer -> new KeyRenewal(0, answer));
    }

    @Override
    public CompletableFuture<Boolean> release(LockName name, AttemptId attempt) {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public Reply failed(Request request, Throwable failure) {
      return new Reply.Failed(request.attempt(), true, failure);
    }
  }

  private CompletableFuture<Renewal> renew(long beat) {
    return session.renew(beat - 1, beat, List.of()).toCompletableFuture();
  }

  private Reply acquire(long number) {
    List<Reply> replies = new ArrayList<>();
    session.submit(
        new Request.Acquire(
            LockName.of("n" + number),
            new AttemptId(id, number),
            Mode.EXCLUSIVE,
            false,
            HoldTerms.NONE,
            1,
            0,
            null),
        replies::add);
    return replies.get(0);
  }

  @Test
  void givenLockTakenWhileTheServersClockIsRead_thenTheRenewalExtendsIt() {
    CompletableFuture<Renewal> first = renew(1);
    server.clocks.remove().complete(true);
    assertThat(first).isCompletedWithValueMatching(Renewal.Renewed.class::isInstance);
    CompletableFuture<Renewal> second = renew(2);
    // It may have been executed before the clock was read, by a clock that was behind.
    assertThat(acquire(1)).isInstanceOf(Reply.Granted.class);
    assertThat(server.extended).isEmpty();
    server.clocks.remove().complete(true);
    assertThat(second).isCompletedWithValueMatching(Renewal.Renewed.class::isInstance);
    assertThat(server.extended).extracting(ExpiringKeys.AttemptKey::attempt).hasSize(1);
  }

  @Test
  void givenClockThatCannotBeRead_thenTheSessionEndsByTheRenewalBefore() {
    CompletableFuture<Renewal> first = renew(1);
    server.clocks.remove().complete(true);
    assertThat(first).isCompletedWithValueMatching(Renewal.Renewed.class::isInstance);
    now = TTL.toNanos() - 1;
    CompletableFuture<Renewal> second = renew(2);
    server.clocks.remove().completeExceptionally(new IllegalStateException("behind"));
    assertThat(second).isCompletedWithValueMatching(Renewal.Unknown.class::isInstance);
    assertThat(acquire(1)).isInstanceOf(Reply.Granted.class);
    now++;
    assertThat(acquire(2)).isInstanceOf(Reply.Refused.class);
  }

  @Test
  void givenClockThatIsReadLate_thenTheRenewalCountsFromWhenItWasAskedFor() {
    CompletableFuture<Renewal> first = renew(1);
    now = TTL.toNanos() - 1;
    server.clocks.remove().complete(true);
    assertThat(first).isCompletedWithValueMatching(Renewal.Renewed.class::isInstance);
    assertThat(acquire(1)).isInstanceOf(Reply.Granted.class);
    now++;
    assertThat(acquire(2)).isInstanceOf(Reply.Refused.class);
  }
}
