package io.mortise.simulation.toy;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.contract.store.StoreClockContract;
import io.mortise.testkit.server.FaultInjectionProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Each process asks the server for its time, so that no late answer changes it. */
class ToyStoreClockTest extends StoreClockContract {
  private final VersionedDocuments server =
      new ToyDocuments(ToyStoreUnderTest.micros(Ticker.SYSTEM));

  @Override
  protected LockStore open() {
    return ToyStore.open(server);
  }

  @Override
  protected LockStore openLate() {
    return ToyStore.open(server);
  }

  @Override
  protected void inTime() {}

  @Test
  void givenDistanceBetweenTheClocksThatIsTakenOnce_thenTheContractFindsIt() throws Exception {
    StoreClockContract contract = ofOffsets();
    try {
      contract.givenStoreWithAClock_thenItCountsMicrosecondsSince1970();
      assertThatThrownBy(
              contract::givenTwoProcesses_whenTheFirstAnswersToOneWereLate_thenBothSeeOneClock)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("the time that one process gets");
    } finally {
      contract.closeAll();
    }
  }

  /** A store that asks the server for its time once for each process. */
  private StoreClockContract ofOffsets() {
    return new StoreClockContract() {
      @Override
      protected LockStore open() {
        return ToyStore.open(new OffsetDocuments(Duration.ZERO));
      }

      @Override
      protected LockStore openLate() {
        return ToyStore.open(new OffsetDocuments(FaultInjectionProxy.ANSWER_DELAY));
      }

      @Override
      protected void inTime() {}
    };
  }

  private final class OffsetDocuments implements VersionedDocuments {
    private final long offset;

    OffsetDocuments(Duration late) {
      offset = server.micros() - local() - TimeUnit.NANOSECONDS.toMicros(late.toNanos());
    }

    private static long local() {
      return TimeUnit.NANOSECONDS.toMicros(Ticker.SYSTEM.nanos());
    }

    @Override
    public long micros() {
      return local() + offset;
    }

    @Override
    public CompletionStage<VersionedText> read(String key) {
      return server.read(key);
    }

    @Override
    public CompletionStage<Written> compareAndSet(
        String key, VersionedText found, @Nullable String text) {
      return server.compareAndSet(key, found, text);
    }

    @Override
    public CompletionStage<List<String>> scan(String prefix, String after, int limit) {
      return server.scan(prefix, after, limit);
    }

    @Override
    public Runnable watch(String key, Consumer<@Nullable VersionedText> changed) {
      return server.watch(key, changed);
    }
  }
}
