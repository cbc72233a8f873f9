package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.event.LockListener;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.spi.Capability;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.Seed;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.history.AttemptEvent;
import io.mortise.testkit.history.HistoryChecks;
import io.mortise.testkit.history.HistoryRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Links fail at random, some for longer than a session lives, and beliefs are judged. */
class FaultSuite extends ClientSuite {
  private static final Duration RUN = Duration.ofSeconds(10);

  /** Fewer holds would prove little. */
  private static final int ENOUGH = 20;

  private static final Duration PATIENCE = LONG.multipliedBy(3);

  private static final List<String> NAMES = List.of("x", "y", "z");

  private static final List<StoreLink.LinkState> FAULTS =
      List.of(
          StoreLink.LinkState.CUT, StoreLink.LinkState.REFUSING, StoreLink.LinkState.ANSWERS_LOST);

  private final HistoryRecorder history = new HistoryRecorder();
  private final AtomicInteger attempts = new AtomicInteger();
  private final AtomicInteger grants = new AtomicInteger();

  FaultSuite(StoreUnderTest under) {
    super(under);
  }

  /** The first try of a renewal is executed and not answered, a later one is answered. */
  @Test
  @Tag("exclusion")
  @RerunIfPaused
  void givenRenewalThatWasAnsweredLate_whenTheHolderIsCutOff_thenItsLeaseEndsBeforeTheNextHolds() {
    RenewalCount renewals = new RenewalCount();
    Peer cutOff = peer("cut off", mortalTtl(), renewals);
    Lease lease = get(start(() -> cutOff.lock().acquire()));
    Peer observer = peer("observer", mortalTtl());
    Future<Lease> next = start(() -> tryUntilHeld(observer));
    renewals.awaitNext(RenewalOutcome.RENEWED);
    cutOff.link().set(StoreLink.LinkState.ANSWERS_LOST);
    renewals.awaitNext(RenewalOutcome.UNANSWERED);
    BoundedWait.pass(mortalTtl().dividedBy(4));
    cutOff.link().set(StoreLink.LinkState.UP);
    renewals.awaitNext(RenewalOutcome.RENEWED);
    cutOff.link().set(StoreLink.LinkState.CUT);
    Lease held = get(next);
    assertThat(lease.isValid()).as("two hold").isFalse();
    held.close();
    cutOff.link().set(StoreLink.LinkState.UP);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  /** Polls the lock, hence the holder's session, until acquired. */
  private static Lease tryUntilHeld(Peer peer) {
    while (true) {
      Optional<Lease> lease = peer.lock().tryAcquire();
      if (lease.isPresent()) {
        return lease.get();
      }
      BoundedWait.pass(Duration.ofMillis(20));
    }
  }

  private static final class RenewalCount implements LockListener {
    private final List<RenewalOutcome> results = new CopyOnWriteArrayList<>();

    @Override
    public void onSessionRenewed(SessionRenewed event) {
      results.add(event.outcome());
    }

    void awaitNext(RenewalOutcome result) {
      int before = results.size();
      BoundedWait.until(
          LONG,
          "a renewal is " + result,
          () -> results.stream().skip(before).anyMatch(result::equals));
    }
  }

  @Test
  @Tag("exclusion")
  @Tag("tokens-rise")
  void givenLinksThatFailAtRandom_thenBeliefsDoNotOverlap_tokensRise_andNothingIsLeft() {
    List<Peer> peers = List.of(peer("a", ttl()), peer("b", ttl()), peer("c", ttl()));
    long began = System.nanoTime();
    long end = began + RUN.toNanos();
    Seed seed = Seed.draw();
    RandomGenerator random = seed.random();
    List<Future<?>> users = new ArrayList<>();
    for (Peer peer : peers) {
      for (int t = 0; t < 2; t++) {
        users.add(
            start(
                () -> {
                  while (System.nanoTime() < end || goesOn(began)) {
                    use(peer);
                  }
                  return true;
                }));
      }
    }
    // One link at a time, so that other processes make progress.
    while (System.nanoTime() < end) {
      Peer struck = peers.get(random.nextInt(peers.size()));
      struck.link().set(FAULTS.get(random.nextInt(FAULTS.size())));
      boolean deadly = random.nextInt(3) == 0;
      BoundedWait.pass(deadly ? ttl().multipliedBy(2) : Duration.ofMillis(random.nextInt(20, 300)));
      struck.link().set(StoreLink.LinkState.UP);
      BoundedWait.pass(Duration.ofMillis(random.nextInt(0, 200)));
    }
    BoundedWait.until(
        PATIENCE, "there were holds enough with " + seed, () -> grants.get() >= ENOUGH);
    users.forEach(ClientSuite::get);

    assertThat(HistoryChecks.all(history.events(), false)).as("with %s", seed).isEmpty();
    // Holds of a lost session stay until another process wants the lock.
    Peer last = peer("last");
    NAMES.forEach(name -> awaitFree(last.client().lock(name)));
    assertNothingLeft(NAMES.toArray(new String[0]));
  }

  /** Whether to continue; a store that paused for a while gets more time. */
  private boolean goesOn(long began) {
    return grants.get() < ENOUGH && elapsed(began).compareTo(BoundedWait.scaled(PATIENCE)) < 0;
  }

  private Duration ttl() {
    Duration least = store().profile().minTtl();
    Duration ttl = Duration.ofMillis(600);
    return ttl.compareTo(least) < 0 ? least : ttl;
  }

  private void use(Peer peer) throws InterruptedException {
    String id = "#" + attempts.incrementAndGet();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    String name = NAMES.get(random.nextInt(NAMES.size()));
    history.add(new AttemptEvent.AttemptAsked(System.nanoTime(), id, "p", name, Mode.EXCLUSIVE));
    Lease lease;
    try {
      lease = peer.client().lock(name).acquireWithin(Duration.ofMillis(random.nextInt(1, 800)));
    } catch (LockTimeoutException | StoreUnavailableException e) {
      return;
    }
    long granted = System.nanoTime();
    long believed = granted;
    grants.incrementAndGet();
    try {
      long token = can(Capability.TOKEN) ? lease.token() : 0;
      // Mostly short, now and then for longer than an outage.
      long until = granted + Duration.ofMillis(random.nextInt(5) == 0 ? 900 : 5).toNanos();
      boolean valid = true;
      while (valid && believed < until) {
        BoundedWait.pass(Duration.ofMillis(1));
        // Read the time first: a lease valid afterwards was valid at that time.
        long now = System.nanoTime();
        valid = lease.isValid();
        believed = valid ? now : believed;
      }
      history.add(new AttemptEvent.AttemptGranted(granted, id, token, believed));
      lease.close();
    } catch (LeaseLostException e) {
      // Legitimate: its belief had ended by time, as recorded before.
      return;
    }
  }
}
