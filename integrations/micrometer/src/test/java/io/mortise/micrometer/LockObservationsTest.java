package io.mortise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockException;
import io.mortise.LockOptions;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LockListener.AcquireCall;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.event.LockListener.AcquireStarted;
import io.mortise.testkit.BoundedWait;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LockObservationsTest {
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final String STORE = "mem:observations";

  private final ObservationRegistry registry = ObservationRegistry.create();
  private final Recorder recorder = new Recorder();
  private final LockClient locks =
      LockClient.builder().url(STORE).listener(LockObservations.of(registry)).build();

  /** Records starts and ends, in order. */
  private static final class Recorder implements ObservationHandler<Observation.Context> {
    private final List<Observation.Context> started = new CopyOnWriteArrayList<>();
    private final ConcurrentLinkedQueue<Observation.Context> stopped =
        new ConcurrentLinkedQueue<>();

    @Override
    public void onStart(Observation.Context context) {
      started.add(context);
    }

    @Override
    public void onStop(Observation.Context context) {
      stopped.add(context);
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
      return true;
    }

    List<Observation.Context> stopped(String name) {
      return stopped.stream().filter(context -> context.getName().equals(name)).toList();
    }

    Observation.Context only(String name) {
      List<Observation.Context> all = stopped(name);
      assertThat(all).as(name).hasSize(1);
      return all.get(0);
    }

    void assertAllEnded() {
      assertThat(stopped).containsExactlyInAnyOrderElementsOf(started);
    }
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private void observe() {
    registry.observationConfig().observationHandler(recorder);
  }

  private static List<String> low(Observation.Context context) {
    return context.getLowCardinalityKeyValues().stream().map(LockObservationsTest::text).toList();
  }

  private static List<String> high(Observation.Context context) {
    return context.getHighCardinalityKeyValues().stream().map(LockObservationsTest::text).toList();
  }

  private static String text(KeyValue pair) {
    return pair.getKey() + "=" + pair.getValue();
  }

  @Test
  void givenHold_thenAcquireAndHoldAreChildrenOfTheCallersObservation() throws Exception {
    observe();
    Observation request = Observation.start("request", registry);
    long token;
    try (Observation.Scope scope = request.openScope()) {
      try (Lease lease = locks.lock("invoice/42").acquire()) {
        token = lease.token();
        assertThat(registry.getCurrentObservation()).isSameAs(scope.getCurrentObservation());
        assertThat(recorder.stopped("mortise.lock.acquire")).hasSize(1);
        assertThat(recorder.stopped("mortise.lock.hold")).isEmpty();
      }
    }
    request.stop();
    Observation.Context acquire = recorder.only("mortise.lock.acquire");
    Observation.Context hold = recorder.only("mortise.lock.hold");
    assertThat(acquire.getContextualName()).isEqualTo("acquire invoice/*");
    assertThat(low(acquire))
        .containsExactlyInAnyOrder(
            "lock=invoice/*", "mode=exclusive", "outcome=granted", "store=" + STORE);
    assertThat(high(acquire)).containsExactlyInAnyOrder("lock.name=invoice/42", "token=" + token);
    assertThat(hold.getContextualName()).isEqualTo("hold invoice/*");
    assertThat(low(hold))
        .containsExactlyInAnyOrder(
            "lock=invoice/*", "mode=exclusive", "end=released", "store=" + STORE);
    assertThat(high(hold)).containsExactlyInAnyOrder("lock.name=invoice/42", "token=" + token);
    assertThat(List.of(acquire, hold))
        .allSatisfy(
            context -> {
              assertThat(context.getParentObservation()).isSameAs(request);
              assertThat(context.getError()).isNull();
            });
    recorder.assertAllEnded();
  }

  @Test
  void givenAsynchronousAcquire_thenItsHoldHasTheCallersObservationAsParent() throws Exception {
    Lease before = locks.lock("job").acquire();
    observe();
    Observation request = Observation.start("request", registry);
    CompletableFuture<Lease> waiting;
    try (Observation.Scope scope = request.openScope()) {
      waiting = locks.lock("job").acquireAsync();
      assertThat(scope.getCurrentObservation()).isNotNull();
    }
    before.close();
    waiting.get(BOUND.toSeconds(), TimeUnit.SECONDS).close();
    request.stop();
    assertThat(recorder.only("mortise.lock.acquire").getParentObservation()).isSameAs(request);
    assertThat(recorder.only("mortise.lock.hold").getParentObservation()).isSameAs(request);
    recorder.assertAllEnded();
  }

  @Test
  void givenBusyLock_thenThereIsNoHold_andNoError() throws Exception {
    try (Lease lease = locks.lock("job").acquire()) {
      observe();
      assertThat(locks.lock("job").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
    Observation.Context acquire = recorder.only("mortise.lock.acquire");
    assertThat(low(acquire)).contains("outcome=busy");
    assertThat(acquire.getError()).isNull();
    assertThat(recorder.stopped("mortise.lock.hold")).isEmpty();
    recorder.assertAllEnded();
  }

  @Test
  void givenLoss_thenTheHoldHasItAsError() throws Exception {
    observe();
    Lease lease =
        locks.lock("job", LockOptions.DEFAULTS.withAtMost(Duration.ofMillis(50))).acquire();
    BoundedWait.until(
        BOUND, "the loss was told", () -> !recorder.stopped("mortise.lock.hold").isEmpty());
    Observation.Context hold = recorder.only("mortise.lock.hold");
    assertThat(low(hold)).contains("end=at-most");
    assertThat(hold.getError()).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    recorder.assertAllEnded();
  }

  @Test
  void givenStoreThatDoesNotAnswer_thenTheAcquireHasAnError() {
    observe();
    LockObservations observations = LockObservations.of(registry);
    AcquireCall call = new AcquireCall(1, "job", Access.SHARED, "", "redis:cache");
    observations.onAcquireStarted(new AcquireStarted(call));
    observations.onAcquireEnded(
        new AcquireEnded(
            call, AcquireOutcome.UNAVAILABLE, BOUND, OptionalLong.empty(), "no answer"));
    Observation.Context acquire = recorder.only("mortise.lock.acquire");
    assertThat(low(acquire)).contains("outcome=unavailable", "mode=shared");
    assertThat(acquire.getError()).isInstanceOf(LockException.class).hasMessage("no answer");
    recorder.assertAllEnded();
  }

  @Test
  void givenManyNames_thenTheLowCardinalityKeyHasFewValues() throws Exception {
    observe();
    for (int i = 0; i < 300; i++) {
      locks.lock("invoice/" + i).acquire().close();
      locks.lock("of-" + "x".repeat(i)).acquire().close();
    }
    assertThat(recorder.stopped.stream().map(LockObservationsTest::low).distinct().count())
        .as("100 values and 'other', of acquires and holds")
        .isEqualTo(2 * 101);
  }

  @Test
  void givenRegistryThatRefuses_thenNothingIsObserved() throws Exception {
    observe();
    registry
        .observationConfig()
        .observationPredicate((name, context) -> !name.startsWith("mortise."));
    locks.lock("job").acquire().close();
    assertThat(recorder.started).isEmpty();
  }

  @Test
  void givenHandlerThatComesDuringAHold_thenOnlyWhatBeginsLaterIsObserved() throws Exception {
    Lease lease = locks.lock("job").acquire();
    observe();
    lease.close();
    assertThat(recorder.started).isEmpty();
    locks.lock("job").acquire().close();
    assertThat(recorder.started).hasSize(2);
    recorder.assertAllEnded();
  }
}
