package io.mortise.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.memory.MemStore;
import io.mortise.support.table.TableRules;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.ManualTime;
import io.mortise.testkit.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Three members in memory. */
final class MemMembers implements StoreUnderTest {
  /** Members answer on real time, whatever clock a test moves: a machine may pause. */
  static final QuorumOptions PATIENT =
      QuorumOptions.DEFAULT.withMemberTimeout(Duration.ofSeconds(10));

  /** Capabilities that no quorum has, whatever its members have. */
  static final Set<Capability> LACKING =
      EnumSet.of(
          Capability.QUEUE,
          Capability.PERMITS,
          Capability.DOWNGRADE,
          Capability.VARIABLE_TTL,
          Capability.SKIPS_DISCONNECTED,
          Capability.CALL_BACK,
          Capability.FACTS);

  static final int SIZE = 3;

  private final @Nullable ManualTime time;
  private final Set<Capability> members;

  private MemMembers(@Nullable ManualTime time, Set<Capability> members) {
    this.time = time;
    this.members = members;
  }

  /** On time that moves by hand. */
  static MemMembers onManualTime() {
    return new MemMembers(new ManualTime(), EnumSet.allOf(Capability.class));
  }

  /** With ZooKeeper's capabilities: tokens, but without a floor, and neither proofs nor records. */
  static MemMembers likeZooKeeper() {
    return new MemMembers(
        new ManualTime(),
        EnumSet.of(
            Capability.SESSION,
            Capability.QUEUE,
            Capability.SHARED,
            Capability.PERMITS,
            Capability.TOKEN,
            Capability.PUSH));
  }

  static MemMembers onRealTime() {
    return new MemMembers(null, EnumSet.allOf(Capability.class));
  }

  static List<LockStore> stores(Set<Capability> capabilities, Ticker ticker, long micros) {
    List<LockStore> stores = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      // Their clocks differ, as in reality.
      stores.add(new MemStore(capabilities, ticker, micros + i * 300L, TableRules.ALL));
    }
    return stores;
  }

  /** A session that lives as long as a test takes; another for each seed. */
  static StoreSession session(LockStore store, int seed) {
    SessionId id = SessionId.random(new Random(seed));
    ClientLabel label = new ClientLabel("host", 1, "test");
    StoreSession session =
        store.open(new SessionSpec(id, Duration.ofMinutes(10), label), notifications -> {});
    assertThat(BoundedWait.join(session.renew(0, 1, List.of())))
        .isInstanceOf(Renewal.Renewed.class);
    return session;
  }

  @Override
  public LockStore open() {
    Ticker ticker = time == null ? Ticker.SYSTEM : time;
    long micros = time == null ? System.currentTimeMillis() * 1000 : 1_700_000_000_000_000L;
    return QuorumLockStore.over(stores(members, ticker, micros), PATIENT, QuorumRules.ALL, ticker);
  }

  @Override
  public boolean listsSessions() {
    return false;
  }

  @Override
  public Set<Capability> capabilities() {
    EnumSet<Capability> able = EnumSet.copyOf(members);
    able.removeAll(LACKING);
    if (!able.contains(Capability.TOKEN_FLOOR)) {
      // No majority would have one in common.
      able.remove(Capability.TOKEN);
    }
    return able;
  }

  @Override
  public void pass(Duration duration) {
    if (time == null) {
      StoreUnderTest.super.pass(duration);
    } else {
      time.advance(duration);
    }
  }
}
