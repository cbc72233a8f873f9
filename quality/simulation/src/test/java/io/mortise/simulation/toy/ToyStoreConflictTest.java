package io.mortise.simulation.toy;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.contract.differential.DifferentialContract;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;

/**
 * The toy store answers like the reference even if two of three writes conflict: each step is then
 * retried.
 */
class ToyStoreConflictTest extends DifferentialContract {
  private static final ExecutorService THREADS = Executors.newFixedThreadPool(2);

  ToyStoreConflictTest() {
    super(() -> ToyStoreUnderTest.byHand(ToyStoreConflictTest::contended));
  }

  private static VersionedDocuments contended(VersionedDocuments documents) {
    AtomicInteger writes = new AtomicInteger();
    return new ContendedDocuments(
        documents,
        THREADS,
        key -> writes.incrementAndGet() % 3 != 0,
        key -> ContendedDocuments.Loss.NOTHING);
  }

  @AfterAll
  static void endThreads() {
    THREADS.shutdownNow();
  }
}
