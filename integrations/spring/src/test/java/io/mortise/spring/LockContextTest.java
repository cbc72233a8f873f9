package io.mortise.spring;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import io.mortise.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class LockContextTest {
  @Test
  void givenNoLock_whenAskedFor_thenItSaysWhatToDo() {
    assertThatThrownBy(LockContext::current)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("through its Spring bean")
        .hasMessageContaining("testing");
    assertThat(LockContext.find()).isEmpty();
  }

  @Test
  void givenTestingScope_whenCodeAsksForItsToken_thenItIsThatOfTheTest() {
    try (LockContext.Scope scope = LockContext.testing(917)) {
      assertThat(scope).isNotNull();
      LockContext context = LockContext.current();
      assertThat(context.token()).isEqualTo(917);
      assertThat(context.fencingToken().value()).isEqualTo(917);
      context.ensureValid();
      Lease lease = context.lease();
      assertThat(lease.state()).isEqualTo(Lease.State.HELD);
      assertThat(lease.isValid()).isTrue();
      assertThat(lease.remaining()).isPositive();
      assertThat(lease.<String, RuntimeException>run(() -> "run")).isEqualTo("run");
      lease.onLost(loss -> {});
      lease.extend(Duration.ofSeconds(1));
      lease.keepShut(Duration.ofSeconds(1));
      lease.downgrade();
      lease.releaseAsync().join();
      lease.close();
      try (LockContext.Scope inner = LockContext.testing(918)) {
        assertThat(inner).isNotNull();
        assertThat(LockContext.current().token()).isEqualTo(918);
      }
      assertThat(LockContext.current().token()).isEqualTo(917);
    }
    assertThat(LockContext.find()).isEmpty();
    assertThatThrownBy(() -> LockContext.testing(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenSnapshotOfContexts_whenItIsOpenedElsewhere_thenTheLockContextIsThere()
      throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (LockContext.Scope scope = LockContext.testing(1)) {
      assertThat(scope).isNotNull();
      Runnable nothing = () -> {};
      assertThat(executor.submit(nothing).get(10, SECONDS)).isNull();
      ContextSnapshotFactory snapshots =
          ContextSnapshotFactory.builder().contextRegistry(ContextRegistry.getInstance()).build();
      var task = snapshots.captureAll().wrap(() -> LockContext.current().token());
      assertThat(executor.submit(task).get(10, SECONDS)).isEqualTo(1L);
      assertThat(executor.submit(LockContext::find).get(10, SECONDS)).isEqualTo(Optional.empty());
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void givenSnapshotOfACall_whenItsLockIsReleased_thenLaterTasksAreUnderNoLock() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    Hold outer = new Hold(null, false, new TestingLease(1));
    Hold inner = new Hold(null, false, new TestingLease(2));
    ContextSnapshotFactory snapshots =
        ContextSnapshotFactory.builder().contextRegistry(ContextRegistry.getInstance()).build();
    Callable<List<Long>> task;
    try (LockContext.Scope around = LockContext.enter(List.of(outer));
        LockContext.Scope within = LockContext.enter(List.of(inner))) {
      assertThat(around).isNotSameAs(within);
      task =
          snapshots
              .captureAll()
              .wrap(() -> LockContext.find().map(LockContext::token).stream().toList());
    }
    try {
      assertThat(executor.submit(task).get(10, SECONDS)).containsExactly(2L);
      inner.release();
      assertThat(executor.submit(task).get(10, SECONDS)).containsExactly(1L);
      outer.release();
      assertThat(executor.submit(task).get(10, SECONDS)).isEmpty();
    } finally {
      executor.shutdownNow();
    }
  }
}
