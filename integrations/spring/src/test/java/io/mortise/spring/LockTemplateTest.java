package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockOptions;
import io.mortise.LockTimeoutException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LockTemplateTest {
  private SpringApp app;
  private LockTemplate template;

  @BeforeEach
  void start() {
    app = SpringApp.start();
    template = LockTemplate.over(app.bean(LockClient.class));
  }

  @AfterEach
  void close() {
    app.close();
  }

  @Test
  void givenTask_whenRun_thenTheLockIsHeldMeanwhile() throws Exception {
    String name = template.withLock("a", () -> LockContext.current().lease().name());
    assertThat(name).isEqualTo("a");
    template.withLock("a", () -> assertThat(app.isHeld("a")).isTrue());
    assertThat(template.tryWithLock("a", () -> assertThat(app.isHeld("a")).isTrue())).isTrue();
    template.withLocks(
        List.of("b", "a", "b"),
        () ->
            assertThat(LockContext.current().leases().stream().map(Lease::name))
                .containsExactly("a", "b"));
    assertThat(app.isHeld("a")).isFalse();
    assertThat(app.isHeld("b")).isFalse();
  }

  @Test
  void givenBusyLock_whenRun_thenItTimesOutOrDoesNotRun() throws Exception {
    LockTemplate hasty = template.withWait(Duration.ZERO);
    try (Lease busy = app.hold("a")) {
      assertThat(busy.isValid()).isTrue();
      assertThatThrownBy(() -> hasty.withLock("a", () -> {}))
          .isInstanceOf(LockTimeoutException.class);
      assertThat(hasty.tryWithLock("a", () -> {})).isFalse();
    }
    assertThat(template.withEndlessWait().<String, RuntimeException>withLock("a", () -> "run"))
        .isEqualTo("run");
  }

  @Test
  void givenNestedCalls_whenTheSameLockIsAskedFor_thenTheyJoin() throws Exception {
    template.withLock(
        "a", () -> template.withLock("a", () -> assertThat(app.isHeld("a")).isTrue()));
    assertThat(app.isHeld("a")).isFalse();
  }

  @Test
  void givenOptions_whenRun_thenTheyAreThoseOfTheLock() throws Exception {
    template
        .withOptions(LockOptions.DEFAULTS.withAtLeast(Duration.ofHours(1)).withLabel("here"))
        .withLock(
            "a",
            () ->
                assertThat(app.info("a").orElseThrow().holders().get(0).label()).isEqualTo("here"));
    assertThat(app.info("a").map(LockInfo::state)).contains(LockState.SHUT);
    template
        .withMode(Locked.LockMode.SHARED)
        .withLock(
            "b",
            () ->
                assertThat(app.info("b").orElseThrow().holders().get(0).share().kind())
                    .isEqualTo(Access.SHARED));
  }

  @Test
  void givenLoss_whenTheTaskRuns_thenItIsInterruptedUnlessToldOtherwise() throws Exception {
    assertThatThrownBy(
            () ->
                template.withLock(
                    "a",
                    () -> {
                      app.evict("a");
                      new CountDownLatch(1).await();
                    }))
        .isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(
            () ->
                template
                    .withInterrupt(false)
                    .withLock(
                        "a",
                        () -> {
                          app.evict("a");
                          assertThat(LockContext.find()).isPresent();
                        }))
        .isInstanceOf(LeaseLostException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void givenWrongArguments_whenUsed_thenTheyAreRefused() {
    assertThatThrownBy(() -> template.withWait(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> template.withLocks(List.of(), () -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("No lock is named");
    assertThatThrownBy(
            () -> template.withMode(Locked.LockMode.SHARED).withLocks(List.of("a", "b"), () -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nest calls");
    assertThatThrownBy(() -> template.withLock("", () -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
