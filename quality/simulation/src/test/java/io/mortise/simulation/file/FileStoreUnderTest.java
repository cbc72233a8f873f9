package io.mortise.simulation.file;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.StoreUnderTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Opens the store of files for the contract suites. */
final class FileStoreUnderTest implements StoreUnderTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final Ticker ticker;
  private @Nullable Path folder;
  private @Nullable LockStore store;

  private FileStoreUnderTest(Ticker ticker) {
    this.ticker = ticker;
  }

  /** On time that moves by hand. */
  static StoreUnderTest byHand() {
    return new FileStoreUnderTest(new ManualTime());
  }

  /** On real time, for an engine, which waits in it. */
  static StoreUnderTest onRealTime() {
    return new FileStoreUnderTest(Ticker.SYSTEM);
  }

  @Override
  public LockStore open() {
    close();
    try {
      Path made = Files.createTempDirectory("mortise-files");
      folder = made;
      LockStore opened =
          FileDocuments.open(made, TIMEOUT, ticker, () -> START.plusNanos(ticker.nanos()));
      store = opened;
      return opened;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Set<Capability> capabilities() {
    return DocumentStore.CAPABILITIES_WITHOUT_CLOCK;
  }

  @Override
  public LockStore reference() {
    return new MemStore(capabilities(), ticker, START.toEpochMilli() * 1_000, TableRules.ALL);
  }

  @Override
  public void pass(Duration duration) {
    if (store != null) {
      BoundedWait.join(store.sweep(10_000));
    }
    if (ticker instanceof ManualTime time) {
      time.advance(duration);
    } else {
      BoundedWait.pass(duration);
    }
  }

  @Override
  public void close() {
    Path made = folder;
    if (store != null) {
      store.close();
    }
    if (made != null && Files.exists(made)) {
      delete(made);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
