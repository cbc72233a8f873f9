package io.mortise.simulation.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.DistributedLock;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.testkit.contract.ContractCoverage;
import io.mortise.testkit.server.JvmProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes over one folder increment a counter in a file protected only by their lock. */
class FileStoreProcessesTest {
  private static final int ROUNDS = 50;

  @TempDir private Path folder;

  /** Counts, then ends, still holding the lock if requested. */
  static final class Counter {
    private Counter() {}

    @SuppressWarnings("SystemOut") // it is how a process answers
    public static void main(String[] arguments) throws Exception {
      Path folder = Path.of(arguments[0]);
      LockStore store = open(folder);
      try (LockClient client =
          LockClient.builder().store(store).ttl(Duration.ofSeconds(1)).build()) {
        DistributedLock lock = client.lock("counter");
        count(lock, folder);
        if (arguments.length > 1) {
          lock.acquire();
          System.out.println("holds");
          Runtime.getRuntime().halt(1);
        }
      }
      store.close();
      System.out.println("ends");
    }
  }

  private static LockStore open(Path folder) {
    return FileDocuments.open(
        folder.resolve("locks"), Duration.ofSeconds(5), Ticker.SYSTEM, WallClock.SYSTEM);
  }

  private static void count(DistributedLock lock, Path folder) throws Exception {
    Path file = folder.resolve("count");
    for (int i = 0; i < ROUNDS; i++) {
      try (Lease lease = lock.acquire()) {
        assertThat(lease.isValid()).isTrue();
        int before = Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
        Files.writeString(file, Integer.toString(before + 1));
      }
    }
  }

  @Test
  void givenTwoProcesses_whenOneDiesWithTheLock_thenNoCountIsLost_andTheLockIsHad()
      throws IOException, InterruptedException {
    try (JvmProcess first = JvmProcess.start(Counter.class, folder.toString(), "dies");
        JvmProcess second = JvmProcess.start(Counter.class, folder.toString())) {
      assertThat(first.line()).isEqualTo("holds");
      assertThat(second.line()).isEqualTo("ends");
    }
    assertThat(Files.readString(folder.resolve("count"))).isEqualTo(String.valueOf(2 * ROUNDS));
    LockStore store = open(folder);
    try (LockClient client = LockClient.builder().store(store).ttl(Duration.ofSeconds(1)).build();
        Lease lease = client.lock("counter").acquire()) {
      assertThat(lease.isValid()).isTrue();
    }
    store.close();
  }

  @Test
  void givenStoreOfFiles_thenItRunsEveryContract() {
    ContractCoverage.verify(Set.of("toy-files"), getClass());
  }
}
