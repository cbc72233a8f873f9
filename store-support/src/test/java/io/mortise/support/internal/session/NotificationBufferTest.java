package io.mortise.support.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NotificationBufferTest {
  private static final SessionId SESSION = SessionId.random(new Random(1));

  private final NotificationBuffer buffer = new NotificationBuffer();

  private static AttemptId attempt(long number) {
    return new AttemptId(SESSION, number);
  }

  private static SessionNotification contended(long attempt) {
    return new SessionNotification.Contended(LockName.of("lock"), attempt(attempt));
  }

  private static SessionNotification ended(long attempt) {
    return new SessionNotification.HoldEnded(
        LockName.of("lock"), attempt(attempt), EndReason.EVICTED);
  }

  private List<Long> told() {
    return buffer.renewed(0).notifications().stream()
        .map(Renewal.NumberedNotification::id)
        .toList();
  }

  @Test
  void givenNotifications_thenEndedHoldsAreToldFirst_andAllAgainUntilAcknowledged() {
    buffer.add(contended(1));
    buffer.add(ended(2));
    buffer.add(contended(3));
    assertThat(told()).containsExactly(2L, 1L, 3L);

    List<SessionNotification> known = buffer.acknowledge(List.of(2L, 3L, 7L));

    assertThat(known).containsExactly(contended(3));
    assertThat(told()).containsExactly(1L);
  }

  @Test
  void givenAcknowledgedOne_whenOneIsAdded_thenItsNumberIsANewOne() {
    buffer.add(contended(1));
    buffer.acknowledge(List.of(1L));

    buffer.add(contended(1));

    assertThat(told()).containsExactly(2L);
  }

  @Test
  void givenHoldThatEnds_thenNothingIsToldOfItButItsEnd() {
    buffer.add(contended(1));
    buffer.add(contended(2));
    buffer.add(contended(1));
    buffer.add(ended(1));
    buffer.acknowledge(List.of(1L));

    buffer.forget(attempt(1));
    buffer.forget(attempt(9));

    assertThat(told()).containsExactly(4L, 2L);
  }

  @Test
  void givenAttemptsOfWhichSomeAreRetained_thenTheOthersAreForgotten_butNoEnd() {
    buffer.add(contended(1));
    buffer.add(contended(2));
    buffer.add(ended(3));

    buffer.retain(attempt -> attempt.number() == 2);

    assertThat(told()).containsExactly(3L, 2L);
    assertThat(buffer.hasStanding()).isTrue();
    buffer.retain(attempt -> false);
    assertThat(buffer.hasStanding()).isFalse();
    assertThat(told()).containsExactly(3L);
  }

  @Test
  void givenMoreThanFit_thenTheOldestAreTold_andThatThereIsMore() {
    for (int i = 1; i <= 65; i++) {
      buffer.add(contended(i));
    }
    buffer.add(ended(99));

    Renewal.Renewed first = buffer.renewed(5);

    assertThat(first.storeMicros()).isEqualTo(5);
    assertThat(first.notifications()).hasSize(64);
    assertThat(first.notifications().get(0).id()).isEqualTo(66);
    assertThat(first.more()).isTrue();
    buffer.acknowledge(first.notifications().stream().map(one -> one.id()).toList());
    Renewal.Renewed second = buffer.renewed(6);
    assertThat(second.notifications()).hasSize(2);
    assertThat(second.more()).isFalse();
    assertThat(buffer.renewed(7, 1).more()).isTrue();
  }
}
