package io.mortise.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.top.KeyPress.KeyName;
import io.mortise.console.ConsoleAction;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests of keys to the store and their times, with a scripted store and manual time. */
class TopSessionTest {
  private static final String NAME = "settlement";

  private final FixedLocks admin = new FixedLocks();
  private final AtomicLong now = new AtomicLong(1_000_000_000L);
  private final TopSession session =
      new TopSession(admin, 1, EnumSet.allOf(ConsoleAction.class), now::get);
  private final LockParticipant holder = TopScreenTest.party("db1", 1, 5, 60);

  @AfterEach
  void close() {
    admin.standing.countDown();
    session.close();
  }

  private void lock(Duration shutFor, LockParticipant... holders) {
    admin.locks.put(
        NAME,
        new LockInfo(
            NAME, OptionalInt.empty(), 5, shutFor, List.of(holders), List.of(), 0, 0, null));
  }

  private void press(String keys) {
    keys.chars().forEach(c -> session.model().press(KeyPress.typed(c)));
  }

  private void enter() {
    session.model().press(KeyPress.of(KeyName.ENTER));
  }

  private void seconds(int seconds) {
    now.addAndGet(Duration.ofSeconds(seconds).toNanos());
    session.step();
  }

  private void ask() {
    session.step();
    press("/" + NAME);
    session.step();
    enter();
  }

  /** Opens the lock. */
  private void open() {
    ask();
    settle();
    assertThat(session.model().detail()).isNotNull();
  }

  /** Waits until all requests are answered and applied. */
  private void settle() {
    await()
        .until(
            () -> {
              session.step();
              return session.pending() == 0;
            });
  }

  /** Waits for the question of a key. */
  private void question(String key) {
    press(key);
    settle();
    assertThat(session.model().dialog()).isNotNull();
  }

  private String answer() {
    settle();
    return session.model().message();
  }

  @Test
  void givenOpenLock_whenTimePasses_thenItIsLookedAtEachTwoSeconds() {
    lock(Duration.ZERO, holder);
    open();
    for (int look = 2; look < 5; look++) {
      seconds(1);
      int looks = look;
      assertThat(admin.finds).hasValue(looks - 1);
      seconds(1);
      await().untilAsserted(() -> assertThat(admin.finds).hasValue(looks));
      settle();
    }
  }

  @Test
  void givenStoreThatStandsStill_whenLockStaysOpen_thenNoLooksQueueBeforeWhatAKeyAsksFor() {
    lock(Duration.ZERO, holder);
    open();
    question("e");
    admin.standing = new CountDownLatch(1);
    for (int i = 0; i < 300; i++) {
      seconds(2);
    }
    press("y");
    for (int i = 0; i < 300; i++) {
      seconds(2);
    }
    admin.standing.countDown();
    assertThat(answer()).startsWith("Told db1:4711 to let go of lock '" + NAME + "'.");
    settle();
    // One for the screen, one for the question, one in the outage, and two of the eviction.
    assertThat(admin.finds).hasValue(5);
  }

  @Test
  void givenAnswerThatTookLong_whenItIsThere_thenTheNextLookIsTwoSecondsLater() {
    lock(Duration.ZERO, holder);
    admin.standing = new CountDownLatch(1);
    ask();
    seconds(60);
    admin.standing.countDown();
    settle();
    seconds(1);
    assertThat(admin.finds).hasValue(1);
    seconds(1);
    await().untilAsserted(() -> assertThat(admin.finds).hasValue(2));
  }

  @Test
  void givenHolderOnTheScreen_whenEvicted_thenThatAttemptIs() {
    lock(Duration.ZERO, holder);
    open();
    question("e");
    press("y");
    assertThat(answer()).startsWith("Told db1:4711 to let go of lock '" + NAME + "'.");
    assertThat(admin.done).containsExactly("CLOSE " + NAME + " " + holder.attempt());
  }

  @Test
  void givenQuestion_whenTheTokenIsAnotherByNow_thenNothingIsDone() {
    lock(Duration.ZERO, holder);
    open();
    question("e");
    lock(Duration.ZERO, TopScreenTest.party("db1", 1, 6, 0));
    press("y");
    assertThat(answer()).isEqualTo("This hold or wait has ended by now. Nothing was done.");
    assertThat(admin.done).isEmpty();
  }

  @Test
  void givenQuestion_whenTheHoldHasEndedMeanwhile_thenNothingIsDone() {
    lock(Duration.ZERO, holder);
    open();
    question("e");
    lock(Duration.ZERO, TopScreenTest.party("db2", 1, 6, 1));
    press("y");
    assertThat(answer()).isEqualTo("This hold or wait has ended by now. Nothing was done.");
    assertThat(admin.done).isEmpty();
  }

  @Test
  void givenHoldThatEndsBetweenTheLookAndTheEviction_thenItIsSaid() {
    lock(Duration.ZERO, holder);
    open();
    question("e");
    admin.result = EvictionResult.NOT_THERE;
    press("y");
    assertThat(answer()).doesNotContain("Told");
  }

  @Test
  void givenHolderThatIsGoneAndALockThatIsShut_whenEvicted_thenOnlyTheStrongerFormOpensIt() {
    LockParticipant dead = TopScreenTest.dead("db1", 1, 5);
    lock(Duration.ofSeconds(40), dead);
    open();
    question("e");
    press("y");
    assertThat(answer())
        .contains("may have outlived its mortise. Nothing was done. With E it opens at once.");
    assertThat(admin.done).isEmpty();
    question("E");
    press(NAME);
    enter();
    settle();
    assertThat(admin.done).containsExactly("BREAK " + NAME + " " + dead.attempt());
  }

  @Test
  void givenShutLock_whenItIsHeldAgainBeforeItOpens_thenNothingIsDone() {
    lock(Duration.ofSeconds(40));
    open();
    question("E");
    lock(Duration.ZERO, holder);
    press(NAME);
    enter();
    assertThat(answer()).isEqualTo("Somebody holds lock '" + NAME + "' by now. Nothing was done.");
    assertThat(admin.done).isEmpty();
  }

  @Test
  void givenShutLock_whenOpened_thenItIs() {
    lock(Duration.ofSeconds(40));
    open();
    question("E");
    press(NAME);
    enter();
    assertThat(answer()).isEqualTo("Opened lock '" + NAME + "'.");
    assertThat(admin.done).containsExactly("open " + NAME);
  }
}
