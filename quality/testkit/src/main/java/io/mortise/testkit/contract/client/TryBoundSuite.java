package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.spi.Capability;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.StoreLink;
import io.mortise.testkit.StoreLink.LinkState;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** A try ends within the store's timeout, whatever the store answers, or does not answer. */
class TryBoundSuite extends ClientSuite {
  private static final Duration TIMEOUT = Duration.ofMillis(500);

  /** Long enough to tell an outage from contention, which takes a second of silence. */
  private static final Duration WAIT = Duration.ofSeconds(3);

  /** Far less than without back-off between useless requests. */
  private static final int MOST_REQUESTS = 1_500;

  TryBoundSuite(StoreUnderTest under) {
    super(under);
  }

  /** The result of a try, and its duration. */
  private record TryResult(
      String form, Duration bound, Optional<Throwable> failure, Duration took) {}

  private Peer impatient(String name) {
    StoreLink link = new StoreLink(store(), TIMEOUT);
    return adopt(
        new Peer(link, LockClient.builder().store(link).ttl(peerTtl()).name(name).build()));
  }

  /** All forms of trying, each on its own lock to avoid contention. */
  private List<Future<TryResult>> tries(LockClient client) {
    List<Future<TryResult>> tries = new ArrayList<>();
    add(tries, "tryAcquire()", () -> client.lock("a").tryAcquire());
    add(tries, "tryAcquire(0)", () -> client.lock("b").tryAcquire(Duration.ZERO));
    add(tries, "tryAcquire(wait)", () -> client.lock("c").tryAcquire(WAIT));
    add(tries, "acquireWithin(wait)", () -> client.lock("d").acquireWithin(WAIT));
    add(tries, "acquireAsync(0)", () -> unwrap(client.lock("e").acquireAsync(Duration.ZERO)));
    add(tries, "acquireAsync(wait)", () -> unwrap(client.lock("f").acquireAsync(WAIT)));
    add(tries, "tryLock()", () -> client.lock("g").asJavaLock().tryLock());
    add(tries, "allOf, tryAcquire()", () -> client.allOf("h", "i").tryAcquire());
    add(tries, "allOf, tryAcquire(wait)", () -> client.allOf("j", "k").tryAcquire(WAIT));
    add(
        tries,
        "allOf, acquireAsync(0)",
        () -> unwrap(client.allOf("l", "m").acquireAsync(Duration.ZERO)));
    if (can(Capability.SHARED)) {
      add(tries, "readLock", () -> client.readWriteLock("n").readLock().tryAcquire());
      add(tries, "writeLock", () -> client.readWriteLock("o").writeLock().tryAcquire());
    }
    if (can(Capability.PERMITS)) {
      add(tries, "semaphore", () -> client.semaphore("p", 3).tryAcquire());
    }
    return tries;
  }

  private void add(List<Future<TryResult>> tries, String form, Callable<Object> call) {
    // The machine may pause for seconds, and all forms share it. A try without a bound would never
    // end.
    Duration bound = TIMEOUT.plus(form.contains("(wait)") ? WAIT : Duration.ZERO).plusSeconds(5);
    tries.add(
        start(
            () -> {
              long began = System.nanoTime();
              try {
                Object answer = call.call();
                assertThat(answer).as(form).isIn(Optional.empty(), false);
                return new TryResult(form, bound, Optional.empty(), elapsed(began));
              } catch (StoreUnavailableException | LockTimeoutException e) {
                return new TryResult(form, bound, Optional.of(e), elapsed(began));
              }
            }));
  }

  private static <T> T unwrap(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  @Test
  void givenStoreThatIsSilent_thenEachTryEndsWithinItsTimeout_andNothingIsLeft()
      throws InterruptedException {
    for (LinkState trouble :
        List.of(LinkState.UNANSWERED, LinkState.ANSWERS_LOST, LinkState.SILENT)) {
      assertBounded(trouble);
    }
  }

  @Test
  void givenStoreThatFailsEachRequest_thenEachTryEndsWithinItsTimeout_andNothingIsLeft()
      throws InterruptedException {
    for (LinkState trouble : List.of(LinkState.CUT, LinkState.REFUSING)) {
      assertBounded(trouble);
    }
  }

  @Test
  void givenStoreWhoseAnswersLeadNowhere_thenEachTryEndsWithinItsTimeout_andNothingIsLeft()
      throws InterruptedException {
    for (LinkState trouble :
        List.of(LinkState.SESSION_UNKNOWN, LinkState.ATTEMPT_ENDED, LinkState.DEAD_HOLDER)) {
      assertBounded(trouble);
    }
  }

  /** Whether a try is served. It may fail until the client has noticed the recovery. */
  private static boolean isServed(LockClient client, String held) {
    try {
      return List.of(held, "a", "h", "i").stream().allMatch(name -> isFree(client.lock(name)));
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  private void assertBounded(LinkState trouble) throws InterruptedException {
    // As the client's first request, and with an open session.
    Peer fresh = impatient("fresh");
    Peer known = impatient("known");
    Lease held = known.client().lock(trouble.name()).acquireWithin(LONG);
    fresh.link().set(trouble);
    known.link().set(trouble);
    long before = fresh.link().requests() + known.link().requests();
    List<Future<TryResult>> tries = new ArrayList<>(tries(fresh.client()));
    tries.addAll(tries(known.client()));
    for (Future<TryResult> one : tries) {
      TryResult result = get(one);
      assertThat(result.took())
          .as("%s, %s", trouble, result.form())
          .isLessThan(BoundedWait.scaled(result.bound()));
      if (trouble != LinkState.DEAD_HOLDER && trouble != LinkState.ATTEMPT_ENDED) {
        assertThat(result.failure())
            .as("%s, %s: no contention", trouble, result.form())
            .get()
            .isInstanceOf(StoreUnavailableException.class);
      }
    }
    assertThat(fresh.link().requests() + known.link().requests() - before)
        .as("%s: requests", trouble)
        .isLessThan(MOST_REQUESTS);
    long began = System.nanoTime();
    if (trouble == LinkState.UNANSWERED) {
      held.close();
      assertThat(elapsed(began))
          .as("a release does not wait for ever either")
          .isLessThan(BoundedWait.scaled(TIMEOUT.multipliedBy(2).plusSeconds(2)));
    }
    fresh.link().set(LinkState.UP);
    known.link().set(LinkState.UP);
    if (trouble == LinkState.UNANSWERED) {
      // No store leaves a request unanswered for ever, so there is no recovery to test.
      return;
    }
    if (trouble != LinkState.SESSION_UNKNOWN) {
      held.close();
    }
    for (Peer peer : List.of(fresh, known)) {
      BoundedWait.until(LONG, "it was served again", () -> isServed(peer.client(), trouble.name()));
    }
    assertNothingLeft(
        trouble.name(), "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m");
  }
}
