package io.mortise.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.event.LockListener;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.LockSession;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.event.LockListener.SessionState;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ListenerGroupTest {
  private static final LockListener EMPTY = new LockListener() {};

  private static class OfAcquires implements LockListener {
    @Override
    public void onAcquireEnded(AcquireEnded event) {}
  }

  private static final class Inherits extends OfAcquires {}

  private static boolean hearsOfAcquires(LockListener listener) {
    return !new ListenerGroup(
            List.of(listener),
            "onAcquireEnded",
            AcquireEnded.class,
            new EventQueue(Runnable::run, 1),
            new AtomicBoolean())
        .isEmpty();
  }

  @Test
  void givenListenerThatDoesNotOverrideAMethod_thenItIsNotCalled() {
    assertThat(hearsOfAcquires(EMPTY)).isFalse();
    assertThat(
            hearsOfAcquires(
                new LockListener() {
                  @Override
                  public void onLeaseEnded(LeaseEnded event) {}
                }))
        .isFalse();
  }

  @Test
  void givenListenerThatOverridesAMethodInAnyWay_thenItIsCalled() {
    assertThat(hearsOfAcquires(new OfAcquires())).isTrue();
    assertThat(hearsOfAcquires(new Inherits())).isTrue();
    assertThat(
            hearsOfAcquires(
                (LockListener)
                    Proxy.newProxyInstance(
                        LockListener.class.getClassLoader(),
                        new Class<?>[] {LockListener.class},
                        (proxy, method, arguments) -> null)))
        .isTrue();
  }

  /** The publisher knows all methods by name. */
  @Test
  void givenListenerThatOverridesNothing_thenNoEventIsMadeForIt() {
    List<Runnable> later = new ArrayList<>();
    EventPublisher publisher = EventPublisher.to(List.of(EMPTY), later::add);
    LockSession session = new LockSession("s", "mem:", "", Duration.ofSeconds(1));
    publisher.renewed(
        session, RenewalOutcome.RENEWED, Duration.ZERO, Duration.ofSeconds(1), () -> 1, "");
    publisher.changed(session, SessionState.OPENED, 0, () -> 1, "");
    assertThat(later).isEmpty();
    assertThat(publisher.isActive()).isEqualTo(publisher.isRecording());
    assertThat(publisher.acquireQueued().isEmpty()).isTrue();
    assertThat(publisher.acquireEnded().isEmpty()).isTrue();
    assertThat(publisher.leaseEnded().isEmpty()).isTrue();
  }
}
