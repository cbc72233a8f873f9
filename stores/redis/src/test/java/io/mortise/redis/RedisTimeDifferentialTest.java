package io.mortise.redis;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.time.Ticker;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.StoreUnderTest;
import io.mortise.testkit.contract.differential.DifferentialContract;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** Expiry by the server's clock matches the reference. */
@Tag("extended")
class RedisTimeDifferentialTest extends DifferentialContract {
  RedisTimeDifferentialTest() {
    super(AdjustableClockUnderTest::new, 4);
  }

  private static final class AdjustableClockUnderTest implements StoreUnderTest {
    private final AdjustableClockServer moved = AdjustableClockServer.shared();
    private KeyConsistencyCheck keys;

    @Override
    public LockStore open() {
      String namespace = RedisServers.namespace();
      keys = new KeyConsistencyCheck(moved.server().port(), namespace);
      return RedisStore.open(moved.server().url() + "?wire=direct&namespace=" + namespace);
    }

    @Override
    public List<String> faults() {
      return keys.faults();
    }

    @Override
    public void close() {
      if (keys != null) {
        keys.close();
      }
    }

    @Override
    public Set<Capability> capabilities() {
      return EnumSet.allOf(Capability.class);
    }

    @Override
    public LockStore reference() {
      return new MemStore(
          capabilities(),
          () -> Ticker.SYSTEM.nanos() + moved.passed().toNanos(),
          System.currentTimeMillis() * 1000 + moved.passed().toNanos() / 1000,
          TableRules.ALL);
    }

    @Override
    public boolean isTimeByHand() {
      return true;
    }

    @Override
    public void pass(Duration time) {
      moved.pass(time);
    }
  }
}
