package io.mortise.simulation.toy;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.DocumentStore;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Opens the toy clockless store for the contract suites. Sessions end there by observation, so the
 * store looks at all of them before time passes.
 */
final class ClocklessToyStoreUnderTest implements StoreUnderTest {
  private static final long START = 1_700_000_000_000_000L;
  private static final int ALL = 10_000;

  private static final Instant START_OF_DAY = Instant.parse("2026-01-01T00:00:00Z");

  /** All capabilities of a clockless store. */
  static final StoreProfile PROFILE =
      new StoreProfile(
          "toy-clockless",
          Stream.concat(
                  DocumentStore.CAPABILITIES_WITHOUT_CLOCK.stream(), Stream.of(Capability.PUSH))
              .collect(Collectors.toSet()),
          Duration.ZERO,
          Duration.ofMillis(1),
          Duration.ofMillis(10));

  private final Ticker ticker;
  private final UnaryOperator<VersionedDocuments> server;
  private @Nullable LockStore store;

  private ClocklessToyStoreUnderTest(Ticker ticker, UnaryOperator<VersionedDocuments> server) {
    this.ticker = ticker;
    this.server = server;
  }

  /** On time that moves by hand. */
  static StoreUnderTest byHand() {
    return new ClocklessToyStoreUnderTest(new ManualTime(), UnaryOperator.identity());
  }

  /** On real time, for an engine, which waits in it. */
  static StoreUnderTest onRealTime() {
    return onRealTime(UnaryOperator.identity());
  }

  /** On real time, with a wrapper around the documents. */
  static StoreUnderTest onRealTime(UnaryOperator<VersionedDocuments> server) {
    return new ClocklessToyStoreUnderTest(Ticker.SYSTEM, server);
  }

  /** Opens the store of these documents for one process. */
  static LockStore open(VersionedDocuments documents, Ticker ticker) {
    return DocumentStore.clockless(
        PROFILE, documents, documents, ticker, () -> START_OF_DAY.plusNanos(ticker.nanos()));
  }

  @Override
  public LockStore open() {
    LockStore opened = open(server.apply(new ClocklessToyDocuments()), ticker);
    store = opened;
    return opened;
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED, Capability.AT_MOST));
  }

  @Override
  public LockStore reference() {
    return new MemStore(capabilities(), ticker, START, TableRules.ALL);
  }

  @Override
  public void pass(Duration duration) {
    if (store != null) {
      BoundedWait.join(store.sweep(ALL));
    }
    if (ticker instanceof ManualTime time) {
      time.advance(duration);
    } else {
      BoundedWait.pass(duration);
    }
  }
}
