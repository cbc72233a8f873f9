package io.mortise.simulation.toy;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/** Opens the toy store for the contract suites. */
final class ToyStoreUnderTest implements StoreUnderTest {
  private static final long START = 1_700_000_000_000_000L;

  private final Ticker ticker;

  private final UnaryOperator<VersionedDocuments> server;

  private ToyStoreUnderTest(Ticker ticker, UnaryOperator<VersionedDocuments> server) {
    this.ticker = ticker;
    this.server = server;
  }

  /** On time that moves by hand. */
  static StoreUnderTest byHand() {
    return byHand(UnaryOperator.identity());
  }

  /** On manual time, with a wrapper around the documents. */
  static StoreUnderTest byHand(UnaryOperator<VersionedDocuments> server) {
    return new ToyStoreUnderTest(new ManualTime(), server);
  }

  /** On real time, for an engine, which waits in it. */
  static StoreUnderTest onRealTime() {
    return new ToyStoreUnderTest(Ticker.SYSTEM, UnaryOperator.identity());
  }

  @Override
  public LockStore open() {
    return ToyStore.open(server.apply(new ToyDocuments(micros(ticker))));
  }

  /** A server's clock. */
  static LongSupplier micros(Ticker ticker) {
    long begin = ticker.nanos();
    return () -> START + TimeUnit.NANOSECONDS.toMicros(ticker.nanos() - begin);
  }

  @Override
  public Set<Capability> capabilities() {
    return EnumSet.complementOf(EnumSet.of(Capability.SKIPS_DISCONNECTED));
  }

  @Override
  public LockStore reference() {
    return new MemStore(capabilities(), ticker, START, TableRules.ALL);
  }

  @Override
  public boolean isTimeByHand() {
    return ticker instanceof ManualTime;
  }

  @Override
  public void pass(Duration duration) {
    if (ticker instanceof ManualTime time) {
      time.advance(duration);
    } else {
      BoundedWait.pass(duration);
    }
  }
}
