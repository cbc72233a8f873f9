package io.mortise.testkit;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The store in memory, on time that moves by hand. */
public final class MemStoreUnderTest implements StoreUnderTest {
  private static final long START = 1_700_000_000_000_000L;

  private final ManualTime time = new ManualTime();
  private final Set<Capability> capabilities;
  private final TableRules rules;
  private @Nullable MemStore opened;

  public MemStoreUnderTest() {
    this(EnumSet.allOf(Capability.class), TableRules.ALL);
  }

  public MemStoreUnderTest(Set<Capability> capabilities, TableRules rules) {
    this.capabilities = capabilities;
    this.rules = rules;
  }

  /** These capabilities on real time, for an engine, which waits in it. */
  public static StoreUnderTest onRealTime(Set<Capability> capabilities) {
    return new StoreUnderTest() {
      private @Nullable MemStore opened;

      @Override
      public LockStore open() {
        opened =
            new MemStore(
                capabilities, Ticker.SYSTEM, System.currentTimeMillis() * 1000, TableRules.ALL);
        return opened;
      }

      @Override
      public LockStore another() {
        return process(Objects.requireNonNull(opened));
      }

      @Override
      public Set<Capability> capabilities() {
        return capabilities;
      }
    };
  }

  /** All capabilities but one and its dependents. */
  public static Set<Capability> allBut(Capability lacking) {
    Set<Capability> able = EnumSet.complementOf(EnumSet.of(lacking));
    if (EnumSet.of(Capability.SESSION, Capability.QUEUE, Capability.PUSH).contains(lacking)) {
      able.remove(Capability.CALL_BACK);
    }
    return able;
  }

  public static MemStoreUnderTest without(Capability lacking) {
    return new MemStoreUnderTest(allBut(lacking), TableRules.ALL);
  }

  @Override
  public LockStore open() {
    opened = new MemStore(capabilities, time, START, rules);
    return opened;
  }

  @Override
  public LockStore another() {
    return process(Objects.requireNonNull(opened));
  }

  /** Another process, whose connection ends when it is closed. */
  static LockStore process(MemStore store) {
    List<SessionId> sessions = new CopyOnWriteArrayList<>();
    return new ForwardingStore(store) {
      @Override
      public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
        sessions.add(spec.id());
        return super.open(spec, hints);
      }

      @Override
      public void close() {
        sessions.forEach(session -> store.connected(session, false));
      }
    };
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
