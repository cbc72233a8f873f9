package io.mortise.support.internal.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class ReportingStoreTest {
  private final StoreUnavailableException reason = new StoreUnavailableException("It is down.");
  private boolean closed;

  private void check(Supplier<CompletionStage<?>> check) {
    var unused =
        ReportingStore.checked(
            new ForwardingStore(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM)) {
              @Override
              public void close() {
                closed = true;
                super.close();
              }
            },
            check,
            () -> CompletableFuture.failedFuture(reason));
  }

  @Test
  void givenCheckThatPasses_thenTheStoreStaysOpen() {
    check(() -> CompletableFuture.completedFuture("fit"));

    assertThat(closed).isFalse();
  }

  @Test
  void givenCheckThatThrows_orFailsWithAWrappedReason_thenTheReasonIsThrown_andTheStoreIsClosed() {
    assertThatThrownBy(
            () ->
                check(
                    () -> {
                      throw reason;
                    }))
        .isSameAs(reason);
    assertThat(closed).isTrue();

    closed = false;
    CompletionException twice = new CompletionException(new CompletionException(reason));
    assertThatThrownBy(() -> check(() -> CompletableFuture.failedFuture(twice))).isSameAs(reason);
    assertThat(closed).isTrue();
  }

  @Test
  void givenRefusedAnswer_thenTheFallbackIsReported_andOtherFailuresRemain() {
    CompletionStage<String> refused =
        CompletableFuture.failedFuture(
            new CompletionException(new StoreUnfitException("Not to this user.")));
    CompletionStage<String> failed = CompletableFuture.failedFuture(reason);

    assertThat(ReportingStore.orElseIfUnfit(refused, "none")).isCompletedWithValue("none");
    assertThatThrownBy(
            () -> ReportingStore.orElseIfUnfit(failed, "none").toCompletableFuture().join())
        .hasCause(reason);
  }
}
