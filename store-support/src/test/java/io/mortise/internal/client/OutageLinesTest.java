package io.mortise.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.HoldTerms;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockName;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.Eviction;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineRules;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.verification.log.RecordedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Log lines for an operator when a store or a process has trouble, on a clock moved by hand. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutageLinesTest {
  private static final AtomicInteger STORES = new AtomicInteger();
  private static final Duration TTL = Duration.ofSeconds(3);

  private final String display = "mem:outage-" + STORES.incrementAndGet() + ";";
  private final List<Timer> timers = new ArrayList<>();
  private long nanos = 1_000_000_000_000L;

  /** Called when a timer is cancelled. */
  private Runnable whenCancelled = () -> {};

  private final EngineScheduler scheduler =
      (delay, task) -> {
        Timer timer = new Timer(nanos + Math.max(0, delay), task);
        timers.add(timer);
        return () -> {
          timers.remove(timer);
          whenCancelled.run();
        };
      };

  /** The answer to renewals instead of the store's; null for the store's own answers. */
  private @Nullable CompletionStage<Renewal> instead;

  /** Whether acquires have no answer. */
  private boolean acquiresAreLost;

  /** Repeats the latest acquire. */
  private Runnable askAgain = () -> {};

  /** Whether releases are lost in flight, with a failure for their sender. */
  private boolean releasesAreLost;

  /** Takes releases that arrive later; null if they arrive at once. */
  private @Nullable Consumer<Runnable> lateReleases;

  /** The failure of acquires; null if they do not fail. */
  private @Nullable StoreUnavailableException acquiresFail;

  private final MemStore mem =
      new MemStore(EnumSet.allOf(Capability.class), () -> nanos, 0, TableRules.ALL);

  /** The incarnation that the server reports. */
  private String incarnation = "first";

  /** The reported states of sessions and ends of leases. */
  private final List<String> told = new ArrayList<>();

  private @Nullable Consumer<String> connectionLost;
  private boolean hintsAreLost;
  private final EngineClient client =
      new EngineClient(
          new TroubledStore(),
          new EngineEnv(
              () -> nanos,
              scheduler,
              scheduler,
              Runnable::run,
              () -> 0,
              new Random(7),
              EngineRules.ALL,
              TTL,
              new ClientLabel("host", 12, "")),
          List.of(
              new LockListener() {
                @Override
                public void onSessionChanged(SessionChanged event) {
                  told.add(event.state() + " " + event.leases());
                }

                @Override
                public void onLeaseEnded(LeaseEnded event) {
                  told.add(event.end().toString());
                }
              }),
          () -> {});

  private record Timer(long at, Runnable task) {}

  private final class TroubledStore extends ForwardingStore {
    TroubledStore() {
      super(mem);
    }

    @Override
    public StoreProfile profile() {
      StoreProfile own = super.profile();
      return new StoreProfile(
          display, own.capabilities(), own.maxInFlight(), own.minTtl(), own.expiryLag());
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(
          super.open(
              spec,
              hint -> {
                if (!hintsAreLost) {
                  hints.accept(hint);
                }
              })) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          if (request instanceof Request.Acquire acquire) {
            askAgain =
                () ->
                    hints.accept(
                        new SessionNotification.MayBeFree(acquire.name(), acquire.attempt()));
          }
          if (acquiresAreLost && request instanceof Request.Acquire) {
            return;
          }
          if (lateReleases != null && request instanceof Request.Abandon) {
            lateReleases.accept(() -> super.submit(request, sink));
          } else if (releasesAreLost && request instanceof Request.Abandon) {
            Throwable silence = new StoreUnavailableException("no answer");
            sink.accept(new Reply.Failed(request.attempt(), true, silence));
          } else if (acquiresFail != null && request instanceof Request.Acquire) {
            sink.accept(new Reply.Failed(request.attempt(), false, acquiresFail));
          } else {
            super.submit(request, sink);
          }
        }

        @Override
        public void submitLater(Request request, Consumer<Reply> sink) {
          submit(request, sink);
        }

        @Override
        public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
          CompletionStage<Renewal> answer = instead;
          return answer == null
              ? super.renew(previous, next, seen).thenApply(OutageLinesTest.this::incarnated)
              : answer;
        }

        @Override
        public void onConnectionLost(Consumer<String> lost) {
          connectionLost = lost;
        }
      };
    }
  }

  private Renewal incarnated(Renewal renewal) {
    return renewal instanceof Renewal.Renewed renewed
        ? new Renewal.Renewed(
            renewed.storeMicros(), renewed.notifications(), renewed.more(), incarnation)
        : renewal;
  }

  /** Runs timers when they are due. */
  private void pass(Duration time) {
    long end = nanos + time.toNanos();
    while (true) {
      Optional<Timer> next =
          timers.stream()
              .filter(timer -> timer.at() - end <= 0)
              .min(Comparator.comparing(timer -> timer.at() - end));
      if (next.isEmpty()) {
        nanos = end;
        return;
      }
      timers.remove(next.get());
      nanos = next.get().at() - nanos > 0 ? next.get().at() : nanos;
      next.get().task().run();
    }
  }

  /** The process does not run: its timers are late. */
  private void standStill(Duration time) {
    nanos += time.toNanos();
    pass(Duration.ZERO);
  }

  private Lease acquire(String name) {
    return acquire(name, LockOptions.DEFAULTS);
  }

  private Lease acquire(String name, LockOptions options) {
    CompletableFuture<Lease> lease = client.lock(name, options).acquireAsync();
    pass(Duration.ZERO);
    return lease.getNow(null);
  }

  private List<String> lines() {
    return RecordedLog.linesWith(display);
  }

  private void storeFails(String message) {
    instead =
        CompletableFuture.completedFuture(
            new Renewal.Unknown(new StoreUnavailableException(message)));
  }

  @Test
  void givenStoreThatIsBackInTime_thenOneWarningWithCauseAndLeases_andOneInfo() {
    Lease first = acquire("a");
    acquire("b");
    storeFails("Connection refused");
    pass(TTL.dividedBy(2));
    assertThat(lines())
        .singleElement()
        .asString()
        .matches(
            "WARN SessionLog: Store '\\Q"
                + display
                + "\\E' failed: Connection refused\\."
                + " Leases of session \\S+: 2; the first is lost in (2|1)(\\.\\d)?s unless the store answers\\.");
    instead = null;
    pass(TTL);
    assertThat(lines()).hasSize(2);
    assertThat(lines().get(1))
        .matches(
            "INFO SessionLog: Store \\Q"
                + display
                + "\\E answers renewals again after \\d+ms; leases kept: 2\\.");
    assertThat(first.isValid()).isTrue();
  }

  @Test
  void givenStoreThatOpensNoSession_whenAThreadWaits_thenThatIsSaid_andThatItGoesOn() {
    storeFails("may not be made");
    assertThat(acquire("a")).isNull();
    pass(Duration.ofMillis(900));
    assertThat(lines()).isEmpty();
    pass(TTL.multipliedBy(2));
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN AcquireProtocol: Waits make no progress for ")
        .contains("(lock=a, store=" + display + "): may not be made");
    instead = null;
    pass(TTL);
    assertThat(lines()).hasSize(2);
    assertThat(lines().get(1)).startsWith("INFO AcquireProtocol: Waits go on after ");
  }

  @Test
  void givenTrouble_thenListenersAreToldWhatTheLogSays() {
    Lease lease = acquire("a");
    assertThat(told).containsExactly("OPENED 0");
    incarnation = "second";
    pass(TTL.dividedBy(2));
    assertThat(told).containsExactly("OPENED 0", "IN_DOUBT 1");
    assertThat(lease.isValid()).as("the server knows it still").isTrue();
    storeFails("Connection refused");
    pass(TTL.dividedBy(2));
    assertThat(told).endsWith("IN_DOUBT 1", "UNANSWERED 1");
    instead = null;
    pass(TTL);
    assertThat(told).endsWith("UNANSWERED 1", "ANSWERED 1");
    instead = CompletableFuture.completedFuture(new Renewal.Lost("it was flushed"));
    pass(TTL);
    assertThat(told).endsWith("ANSWERED 1", "FORGOTTEN", "LOST 1");
    instead = null;
    lease = acquire("b");
    storeFails("Connection refused");
    pass(TTL.multipliedBy(2));
    assertThat(told).endsWith("OPENED 0", "UNANSWERED 1", "NOT_RENEWED", "LOST 1");
    instead = null;
    acquire("c");
    assertThat(told).endsWith("ANSWERED 0", "OPENED 0");
    client.close();
    assertThat(told).endsWith("CLIENT_CLOSED", "CLOSED 0");
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void givenStoreThatForgets_whenTheHolderLooksBeforeItIsTold_thenItReadsTheSameReason() {
    Lease lease = acquire("a");
    List<LeaseLostException> seen = new ArrayList<>();
    whenCancelled =
        () -> {
          try {
            lease.ensureValid();
          } catch (LeaseLostException e) {
            seen.add(e);
          }
        };
    instead = CompletableFuture.completedFuture(new Renewal.Lost("it was flushed"));
    pass(TTL);
    assertThat(told).contains("FORGOTTEN");
    assertThat(seen)
        .isNotEmpty()
        .allSatisfy(
            loss -> {
              assertThat(loss.end()).isEqualTo(LeaseEnd.FORGOTTEN);
              assertThat(loss).hasMessageContaining("it was flushed");
            });
  }

  @Test
  void givenServerThatClosesAnIdleConnection_thenItIsNoOutage_unlessItGoesOn() {
    acquire("a").close();
    storeFails("There has been no connection for 4ms (store=" + display + ").");
    connectionLost.accept("The server closed the connection");
    pass(Duration.ofMillis(100));
    instead = null;
    pass(Duration.ofSeconds(1));
    assertThat(lines()).isEmpty();

    storeFails("The request was not sent (store=" + display + ").");
    connectionLost.accept("Connection reset");
    pass(Duration.ofSeconds(2));
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN SessionLog: The request was not sent")
        .contains(": 0.");
  }

  @Test
  void givenConnectionThatBreaks_thenItIsToldAtOnce() {
    acquire("a");
    storeFails("The request was not sent (store=" + display + ").");
    connectionLost.accept("Connection reset");
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith(
            "WARN SessionLog: The connection to store "
                + display
                + " broke: Connection reset. Leases of")
        .contains(": 1; the first is lost in ");
    connectionLost.accept("Connection reset");
    pass(TTL.dividedBy(2));
    assertThat(lines()).as("once per outage").hasSize(1);
  }

  @Test
  void givenProxyThatEndsConnectionsAgainAndAgain_thenOneEndIsTold_andOneThatLasts() {
    acquire("a");
    for (int i = 0; i < 12; i++) {
      storeFails("The request was not sent (store=" + display + ").");
      connectionLost.accept("The server closed the connection");
      pass(Duration.ofMillis(100));
      instead = null;
      pass(Duration.ofSeconds(2));
    }
    assertThat(lines()).filteredOn(line -> line.startsWith("WARN")).hasSize(1);

    storeFails("The request was not sent (store=" + display + ").");
    connectionLost.accept("The server closed the connection");
    pass(Duration.ofSeconds(2));
    assertThat(lines()).filteredOn(line -> line.startsWith("WARN")).hasSize(2);
  }

  @Test
  void givenStoreThatStaysAway_thenTheLossNamesTheLastFailure_andItsReturnIsTold() {
    Lease lease = acquire("a");
    storeFails("Connection refused.");
    pass(TTL.multipliedBy(2));
    assertThat(lines()).hasSize(2);
    assertThat(lines().get(1))
        .startsWith("ERROR Engine: Lost lease on lock 'a' (holder=host:12, token=")
        .contains(
            "it was not renewed within its TTL of 3s; the last try failed: Connection refused.")
        .endsWith("check what was written with this token.");
    assertThatThrownBy(lease::ensureValid)
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("the last try failed: Connection refused (store=");
    instead = null;
    acquire("b");
    assertThat(lines()).hasSize(3);
    assertThat(lines().get(2)).startsWith("INFO SessionLog: Store ").endsWith("leases kept: 0.");
  }

  @Test
  void givenStoreThatNeverAnswers_thenTheWarningSaysForHowLong() {
    acquire("a");
    instead = new CompletableFuture<>();
    pass(TTL.dividedBy(10).multipliedBy(9));
    assertThat(lines())
        .singleElement()
        .asString()
        .contains("WARN SessionLog: Store " + display + " has not answered a renewal for ");
  }

  @Test
  void givenRenewalsWithoutAnswer_whenOtherRequestsHaveOne_thenTheWarningTellsOfTheRenewals() {
    acquire("a");
    instead = new CompletableFuture<>();
    pass(TTL.dividedBy(10).multipliedBy(6));
    acquire("b");
    pass(TTL.dividedBy(10).multipliedBy(3));
    assertThat(lines())
        .singleElement()
        .asString()
        .containsPattern("has not answered a renewal for (1(\\.\\d)?s|[5-9]\\d\\dms)\\.");
  }

  /** Another process acquires the lock, and keeps it. */
  private void heldByAnother(String name) {
    SessionId other = new SessionId("sessionOther");
    StoreSession holder =
        mem.open(
            new SessionSpec(other, Duration.ofMinutes(1), new ClientLabel("host", 13, "")),
            hint -> {});
    holder.renew(0, 1, List.of());
    holder.submit(
        new Request.Acquire(
            LockName.of(name),
            new AttemptId(other, 1),
            Mode.EXCLUSIVE,
            true,
            HoldTerms.NONE,
            1,
            0,
            null),
        reply -> assertThat(reply).isInstanceOf(Reply.Granted.class));
  }

  @Test
  void givenOutageForMostOfAWait_whenAnotherProcessHoldsTheLock_thenTheTimeoutTellsOfBoth() {
    heldByAnother("a");
    acquiresFail = new StoreUnavailableException("Connection refused.");
    CompletableFuture<Lease> wait = client.lock("a").acquireAsync(Duration.ofSeconds(10));
    pass(Duration.ofSeconds(8));
    acquiresFail = null;
    pass(Duration.ofSeconds(2));
    assertThatThrownBy(wait::join)
        .cause()
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("Could not acquire lock 'a' within 10s (store=" + display)
        .message()
        .containsPattern(
            "The store gave no answer for [89](\\.\\d)?s of the wait: Connection refused\\.");
    assertThatThrownBy(wait::join).cause().cause().isInstanceOf(StoreUnavailableException.class);
    CompletableFuture<Lease> second = client.lock("a").acquireAsync(Duration.ofSeconds(10));
    pass(Duration.ofSeconds(10));
    assertThatThrownBy(second::join)
        .cause()
        .isInstanceOf(LockTimeoutException.class)
        .hasNoCause()
        .hasMessageContaining("Raise the wait time");
  }

  @Test
  void givenOutageForMostOfAWait_whenTheLastRequestHasNoAnswerYet_thenTheTimeoutTellsOfTheOutage() {
    heldByAnother("a");
    acquiresFail = new StoreUnavailableException("Connection refused.");
    CompletableFuture<Lease> wait = client.lock("a").acquireAsync(Duration.ofSeconds(10));
    pass(Duration.ofSeconds(8));
    acquiresFail = null;
    pass(Duration.ofMillis(1500));
    acquiresAreLost = true;
    askAgain.run();
    pass(Duration.ofMillis(500));
    assertThatThrownBy(wait::join)
        .cause()
        .isInstanceOf(LockTimeoutException.class)
        .message()
        .containsPattern(
            "The store gave no answer for [89](\\.\\d)?s of the wait: Connection refused\\.");
  }

  @Test
  void givenWaiterInTheQueue_whenTheStoreFallsSilentUntilTheEnd_thenTheFailureNamesTheSilence() {
    heldByAnother("a");
    CompletableFuture<Lease> wait = client.lock("a").acquireAsync(Duration.ofSeconds(12));
    pass(Duration.ofSeconds(6));
    instead = new CompletableFuture<>();
    acquiresAreLost = true;
    pass(Duration.ofSeconds(6));
    assertThatThrownBy(wait::join)
        .cause()
        .isInstanceOf(StoreUnavailableException.class)
        .message()
        .containsPattern("no answer for (5(\\.\\d)?|6)s\\.");
  }

  @Test
  void givenWaiterInTheQueue_whenRenewalsFailForMostOfItsWait_thenTheTimeoutTellsOfTheOutage() {
    heldByAnother("a");
    CompletableFuture<Lease> wait = client.lock("a").acquireAsync(Duration.ofSeconds(3));
    pass(Duration.ofMillis(100));
    assertTimeoutTells(wait, Duration.ofMillis(1600), Duration.ofMillis(1300), "1\\.[67]\\d*s");
    CompletableFuture<Lease> second = client.lock("a").acquireAsync(Duration.ofSeconds(3));
    pass(Duration.ofSeconds(3));
    assertThatThrownBy(second::join).cause().hasNoCause();
  }

  @Test
  void givenWaiterInTheQueue_whenAnOutageEndsItsSession_thenTheTimeoutTellsOfTheWholeOutage() {
    heldByAnother("a");
    CompletableFuture<Lease> wait = client.lock("a").acquireAsync(Duration.ofSeconds(12));
    pass(Duration.ofSeconds(1));
    assertTimeoutTells(wait, Duration.ofSeconds(7), Duration.ofSeconds(4), "7(\\.\\d)?s");
  }

  private void assertTimeoutTells(
      CompletableFuture<Lease> wait, Duration outage, Duration rest, String lasted) {
    storeFails("Connection refused.");
    acquiresFail = new StoreUnavailableException("Connection refused.");
    connectionLost.accept("Connection reset");
    pass(outage);
    instead = null;
    acquiresFail = null;
    pass(rest);
    assertThatThrownBy(wait::join)
        .cause()
        .isInstanceOf(LockTimeoutException.class)
        .message()
        .containsPattern(
            "The store gave no answer for " + lasted + " of the wait: Connection refused\\.");
  }

  @Test
  void givenFailureThatNamesTheStore_thenTheLossNamesItOnce() {
    Lease lease = acquire("a");
    storeFails("NATS did not answer within 2s (store=" + display + ", bucket=mortise).");
    pass(TTL.multipliedBy(2));
    assertThatThrownBy(lease::ensureValid)
        .hasMessageContaining(
            "; the last try failed: NATS did not answer within 2s (store=" + display + ", token=");
  }

  @Test
  void givenProcessThatStoodStill_thenTheLossSaysSo() {
    Lease lease = acquire("a");
    standStill(Duration.ofSeconds(5));
    assertThatThrownBy(lease::ensureValid)
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("this process stood still for at least 4")
        .hasMessageContaining("s (TTL 3s): garbage collection, or a stopped host (store=");
    assertThat(RecordedLog.linesWith(display))
        .anyMatch(line -> line.startsWith("ERROR Engine: Lost lease"));
  }

  @Test
  void givenProcessThatStoodStill_whenItLooksBeforeItsTimersRun_thenThatSaysSoToo() {
    Lease lease = acquire("a");
    nanos += Duration.ofSeconds(5).toNanos();
    assertThatThrownBy(lease::ensureValid).hasMessageContaining("this process stood still");
    assertThatThrownBy(lease::close).hasMessageContaining("this process stood still");
  }

  @Test
  void givenClientThatIsClosedWithOpenLeases_thenOneWarningNamesThem() {
    for (int i = 0; i < 7; i++) {
      acquire("\u202e" + i);
    }
    client.close();
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith(
            "WARN EngineClient: Closed LockClient["
                + display
                + "] with leases open: 7 (on locks '\\u{202e}0', '")
        .contains("' and 2 more)")
        .endsWith("Close leases before their client.");
  }

  @Test
  void givenAtMostTimeThatIsOver_thenItIsAWarning() {
    Lease lease = acquire("a", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(800)));
    pass(Duration.ofSeconds(1));
    assertThat(lease.state()).isEqualTo(Lease.State.LOST);
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN Engine: Lost lease on lock 'a'")
        .contains("its at-most time is over. Work done under it may overlap");
  }

  @Test
  void givenLeaseThatAnOperatorEvicts_thenItIsAWarningThatSaysWhetherOthersOverlap() {
    acquire("a");
    String attempt = client.admin().find("a").orElseThrow().holders().get(0).attempt();
    client.admin().evict("a", attempt, Eviction.CLOSE);
    pass(TTL);
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN Engine: Lost lease on lock 'a'")
        .contains("an operator evicted it")
        .contains("With CLOSE the lock stays shut until this lease is closed, and nobody overlaps");
  }

  @Test
  void givenLeaseThatAnOperatorEvicts_whenItIsReleasedBeforeItIsTold_thenTheLossSaysWhoOverlaps() {
    Lease lease = acquire("a");
    String attempt = client.admin().find("a").orElseThrow().holders().get(0).attempt();
    hintsAreLost = true;
    client.admin().evict("a", attempt, Eviction.CLOSE);
    CompletableFuture<Void> released = lease.releaseAsync();
    pass(Duration.ZERO);
    assertThatThrownBy(released::join)
        .cause()
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("was lost before its release reached the store")
        .hasMessageContaining(
            "With CLOSE the lock was shut until this release, and nobody overlaps");
  }

  @Test
  void givenReleaseWithoutAnAnswer_whenALaterAnswerTellsOfALoss_thenTheLogTellsIt() {
    Lease lease = acquire("a");
    String attempt = client.admin().find("a").orElseThrow().holders().get(0).attempt();
    hintsAreLost = true;
    client.admin().evict("a", attempt, Eviction.BREAK);
    releasesAreLost = true;
    CompletableFuture<Void> released = lease.releaseAsync();
    pass(Duration.ZERO);
    assertThat(released).isCompleted();
    assertThat(lines()).isEmpty();
    releasesAreLost = false;
    pass(TTL);
    assertLateLoss();
  }

  @Test
  void givenCloseThatDoesNotWait_whenTheAnswerTellsOfALoss_thenTheLogTellsIt() {
    Lease lease = acquire("a", LockOptions.DEFAULTS.withReleaseAsync(true));
    String attempt = client.admin().find("a").orElseThrow().holders().get(0).attempt();
    hintsAreLost = true;
    client.admin().evict("a", attempt, Eviction.BREAK);
    List<Runnable> late = new ArrayList<>();
    lateReleases = late::add;
    lease.close();
    assertThat(lines()).isEmpty();
    late.forEach(Runnable::run);
    assertLateLoss();
  }

  private void assertLateLoss() {
    assertThat(lines())
        .singleElement()
        .asString()
        .startsWith("WARN Engine: Lost lease on lock 'a'")
        .contains("before its release reached the store, an operator evicted it");
  }

  @Test
  void givenStoreThatFails_thenOneMessageIsNotPutIntoAnother() {
    String said = "Store '" + display + "' did not answer: no route.";
    assertThat(FailureText.about(display, said)).isEqualTo(said);
    assertThat(FailureText.about(display, "no route"))
        .isEqualTo("Store '" + display + "' failed: no route.");
    assertThat(client.engine().unavailable(LockName.of("i"), new StoreUnavailableException(said)))
        .hasMessage(
            "Lock 'i' was not served: "
                + said
                + " The attempt is being ended; check the store and the network to it.");
  }

  @Test
  void givenClientThatStarts_thenOneInfoSaysWhatItReliesOn() {
    client.tellStart("billing");
    assertThat(lines())
        .containsExactly(
            "INFO EngineClient: Locks are kept in "
                + display
                + " (namespace=billing, guarantees=mem, ttl=3s, client=host:12).");
  }
}
