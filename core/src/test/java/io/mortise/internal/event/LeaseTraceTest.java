package io.mortise.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class LeaseTraceTest {
  private final Queue<Runnable> callbacks = new ArrayDeque<>();
  private final List<String> told = new ArrayList<>();
  private Runnable whileGrantIsTold = () -> {};

  private final EventPublisher publisher =
      EventPublisher.to(
          List.of(
              new LockListener() {
                @Override
                public void onAcquireEnded(AcquireEnded event) {
                  told.add(event.outcome() + " " + event.waited().toNanos());
                  whileGrantIsTold.run();
                }

                @Override
                public void onLeaseEnded(LeaseEnded event) {
                  told.add(event.end() + " " + event.held().toNanos() + " " + event.token());
                }
              }),
          callbacks::add);

  private final LeaseTrace lease =
      publisher.begin("a", Access.EXCLUSIVE, "", "mem:", () -> 100).lease();

  private void granted() {
    lease.granted(OptionalLong.of(7), 150);
  }

  private void runCallbacks() {
    while (!callbacks.isEmpty()) {
      callbacks.remove().run();
    }
  }

  @Test
  void givenRelease_thenItIsToldByItsThreadAlone() throws Exception {
    granted();
    lease.released(250);
    Thread other = new Thread(() -> told.add("told by another: " + lease.takeRelease()));
    other.start();
    other.join(Duration.ofSeconds(20).toMillis());
    assertThat(lease.takeRelease()).isTrue();
    lease.tellRelease();
    assertThat(lease.takeRelease()).isFalse();
    assertThat(told)
        .containsExactly("GRANTED 50", "told by another: false", "RELEASED 100 OptionalLong[7]");
  }

  @Test
  void givenLossAfterTheGrantWasTold_thenItIsToldOnAnotherThread() {
    granted();
    lease.lost(LeaseEnd.EVICTED, "an operator", 250);
    lease.tellLoss();
    assertThat(told).containsExactly("GRANTED 50");
    runCallbacks();
    assertThat(told).containsExactly("GRANTED 50", "EVICTED 100 OptionalLong[7]");
  }

  @Test
  void givenLossWhileTheGrantIsTold_thenItIsToldAfterIt() {
    whileGrantIsTold =
        () -> {
          lease.lost(LeaseEnd.NOT_RENEWED, "late", 140);
          lease.tellLoss();
          assertThat(told).containsExactly("GRANTED 50");
        };
    granted();
    runCallbacks();
    assertThat(told).containsExactly("GRANTED 50", "NOT_RENEWED 0 OptionalLong[7]");
  }

  @Test
  void givenLeaseThatNobodyGot_thenItsLossIsNotTold() {
    lease.lost(LeaseEnd.NOT_RENEWED, "late", 140);
    lease.tellLoss();
    runCallbacks();
    assertThat(told).isEmpty();
  }
}
