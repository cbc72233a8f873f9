package io.mortise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The first code of a new user: tasks with and without a result that declare exceptions. */
class WithLockTest {
  private static final Duration BRIEF = Duration.ofMillis(20);

  private final LockClient client = LockClient.connect("mem:WithLockTest");
  private final DistributedLock lock = client.lock("x");
  private final List<String> done = new ArrayList<>();

  @AfterEach
  void close() {
    client.close();
  }

  private void work() {
    assertThat(lock.tryAcquire()).as("held while the task runs").isEmpty();
    done.add("work");
  }

  private int figure() throws IOException {
    work();
    return 42;
  }

  private void assertFree() {
    lock.tryAcquire().orElseThrow().close();
  }

  @Test
  void givenTaskWithoutResult_thenItRunsUnderTheLock() throws InterruptedException {
    lock.withLock(() -> work());
    lock.withLock(this::work);
    lock.withLock(BRIEF, this::work);
    assertThat(lock.tryWithLock(this::work)).isTrue();
    assertThat(done).hasSize(4);
    assertFree();
  }

  @Test
  void givenTaskWithResult_thenItsResultAndItsExceptionAreTheCallers() throws Exception {
    assertThat(lock.withLock(this::figure) + lock.withLock(BRIEF, this::figure)).isEqualTo(84);
    assertThatThrownBy(
            () ->
                lock.withLock(
                    () -> {
                      throw new IOException("of the task");
                    }))
        .isInstanceOf(IOException.class);
    assertFree();
  }

  @Test
  void givenTaskThatWantsTheLease_thenItIsThatOfTheHold() throws InterruptedException {
    lock.withLease(lease -> done.add(String.valueOf(lease.isValid())));
    lock.withLease(BRIEF, lease -> work());
    assertThat(lock.tryWithLease(lease -> lease.ensureValid())).isTrue();
    long token = lock.callWithLease(Lease::token);
    assertThat(done).containsExactly("true", "work");
    assertThat(lock.<Long, RuntimeException>callWithLease(BRIEF, Lease::token))
        .isGreaterThan(token);
    assertFree();
  }

  @Test
  void givenLockThatIsTaken_thenTheTaskDoesNotRun() {
    try (Lease lease = lock.tryAcquire().orElseThrow()) {
      assertThat(lock.tryWithLock(this::work)).isFalse();
      assertThatThrownBy(() -> lock.withLock(BRIEF, this::work))
          .isInstanceOf(LockTimeoutException.class);
      lease.run(() -> done.add("inside"));
      assertThat(lease.run(() -> 7)).isEqualTo(7);
    }
    assertThat(done).containsExactly("inside");
  }

  @Test
  void givenSemaphore_thenItIsAcquiredLikeALockOfOnePermit() throws InterruptedException {
    DistributedSemaphore two = client.semaphore("two", 2);
    try (Lease one = two.acquire();
        Lease other = two.acquireWithin(Duration.ofSeconds(30))) {
      assertThat(List.of(one, other)).allMatch(Lease::isValid);
      assertThat(two.tryAcquire()).isEmpty();
      assertThat(two.tryAcquire(BRIEF)).isEmpty();
      assertThat(two.acquireAsync(BRIEF)).failsWithin(Duration.ofSeconds(30));
    }
    two.acquireAsync().join().close();
  }

  @Test
  void givenGroupOfWhichOneLockIsTaken_whenATimedTryEnds_thenNoneIsHeld()
      throws InterruptedException {
    LockGroup group = client.allOf("w", "x");
    Optional<GroupLease> none;
    try (Lease lease = lock.tryAcquire().orElseThrow()) {
      none = group.tryAcquire(BRIEF);
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(none).isEmpty();
    client.lock("w").tryAcquire().orElseThrow().close();
    group.tryAcquire(BRIEF).orElseThrow().close();
  }

  @Test
  void givenObjectsThatAreShown_thenTheyTellTheirNameAndTheirStore() {
    assertThat(lock).hasToString("DistributedLock[x, exclusive, mem:WithLockTest]");
    assertThat(client.semaphore("two", 2).permits(1))
        .hasToString("DistributedLock[two, 1 of 2 permits, mem:WithLockTest]");
    assertThat(client.semaphore("two", 2))
        .hasToString("DistributedSemaphore[two, 2 permits, mem:WithLockTest]");
    assertThat(client.readWriteLock("x"))
        .hasToString("DistributedReadWriteLock[x, mem:WithLockTest]");
    assertThat(client.readWriteLock("x").readLock())
        .hasToString("DistributedLock[x, shared, mem:WithLockTest]");
    assertThat(client.allOf("w", "x")).hasToString("LockGroup[w, x]");
  }

  @Test
  @SuppressWarnings("NullAway")
  void givenWrongArguments_thenTheyAreNamed() {
    assertThatThrownBy(() -> client.lock(null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("name");
    assertThatThrownBy(() -> client.semaphore("s", 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A semaphore has 1 to 999999 permits, not 0.");
    assertThatThrownBy(() -> client.semaphore("s", 1_000_000))
        .hasMessage("A semaphore has 1 to 999999 permits, not 1000000.");
  }
}
