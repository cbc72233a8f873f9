package io.mortise.testkit;

import io.mortise.internal.table.MemStore;
import io.mortise.internal.table.TableRules;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Ticker;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** The store in memory, on time that moves by hand. */
final class MemUnderTest implements StoreUnderTest {
  private static final long START = 1_700_000_000_000_000L;

  private final ManualTime time = new ManualTime();
  private final Set<Capability> capabilities;
  private final TableRules rules;

  MemUnderTest() {
    this(EnumSet.allOf(Capability.class), TableRules.ALL);
  }

  MemUnderTest(Set<Capability> capabilities, TableRules rules) {
    this.capabilities = capabilities;
    this.rules = rules;
  }

  /** Everything, on real time: for an engine, which waits by it. */
  static StoreUnderTest onRealTime(Set<Capability> capabilities) {
    return new StoreUnderTest() {
      @Override
      public LockStore open() {
        return new MemStore(
            capabilities, Ticker.SYSTEM, System.currentTimeMillis() * 1000, TableRules.ALL);
      }

      @Override
      public Set<Capability> capabilities() {
        return capabilities;
      }
    };
  }

  static MemUnderTest without(Capability lacking) {
    return new MemUnderTest(EnumSet.complementOf(EnumSet.of(lacking)), TableRules.ALL);
  }

  @Override
  public LockStore open() {
    return new MemStore(capabilities, time, START, rules);
  }

  @Override
  public Set<Capability> capabilities() {
    return capabilities;
  }

  @Override
  public LockStore reference() {
    return new MemStore(capabilities, time, START, TableRules.ALL);
  }

  @Override
  public boolean isTimeByHand() {
    return true;
  }

  @Override
  public void pass(Duration duration) {
    time.advance(duration);
  }
}
