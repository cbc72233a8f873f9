package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.GroupLease;
import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.PartitionedMemStore;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.RerunIfPaused;
import io.mortise.testkit.StoreLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client over a store of several parts: the same API, and parts that fail apart. */
@Timeout(60)
class PartitionedClientTest {
  private final PartitionedMemStore store = new PartitionedMemStore(3);
  private final LockClient client = LockClient.builder().store(store).build();

  @AfterEach
  void close() {
    client.close();
  }

  @Nested
  class AcquireRules extends AcquireSuite {
    AcquireRules() {
      super(PartitionedMemStore.underTest());
    }
  }

  @Nested
  class LeaseRules extends LeaseSuite {
    LeaseRules() {
      super(PartitionedMemStore.underTest());
    }
  }

  @Nested
  class OperatorRules extends OperatorSuite {
    OperatorRules() {
      super(PartitionedMemStore.underTest());
    }
  }

  @Nested
  class JavaLockRules extends JavaLockSuite {
    JavaLockRules() {
      super(PartitionedMemStore.underTest());
    }
  }

  @Nested
  class SharedAccessRules extends SharedAccessSuite {
    SharedAccessRules() {
      super(PartitionedMemStore.underTest());
    }
  }

  @Test
  @RerunIfPaused
  void givenPartThatIsCutOff_thenItsLeasesAreLost_andThoseOfOthersAreNot() throws Exception {
    store.parts.get(0).set(StoreLink.LinkState.UP);
    try (LockClient mortal =
        LockClient.builder().store(store).ttl(Duration.ofMillis(900)).build()) {
      cutOff(mortal);
    }
  }

  private void cutOff(LockClient client) throws Exception {
    Lease cut = client.lock(store.nameIn(0)).acquire();
    Lease other = client.lock(store.nameIn(1)).acquire();
    RecordingConsumer<LeaseLostException> lost = new RecordingConsumer<>();
    cut.onLost(lost);
    store.parts.get(0).set(StoreLink.LinkState.REFUSING);
    lost.await(1);
    assertThat(cut.isValid()).isFalse();
    assertThat(other.isValid()).isTrue();
    assertThatThrownBy(() -> client.lock(store.nameIn(0)).tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    client.lock(store.nameIn(2)).tryAcquire().orElseThrow().close();
    other.close();
    store.parts.get(0).set(StoreLink.LinkState.UP);
    client.lock(store.nameIn(0)).acquireWithin(Duration.ofSeconds(20)).close();
  }

  @Test
  void givenPartThatNobodyUses_thenNothingIsSentThere() throws Exception {
    client.lock(store.nameIn(1)).acquire().close();
    assertThat(store.parts.get(1).requests()).isPositive();
    assertThat(store.parts.get(0).requests()).isZero();
    assertThat(store.parts.get(2).requests()).isZero();
  }

  @Test
  void givenGroupOverParts_thenAllOrNoneIsHeld() throws Exception {
    String[] names = {store.nameIn(0), store.nameIn(1), store.nameIn(2)};
    try (GroupLease all = client.allOf(names).acquire()) {
      assertThat(all.isValid()).isTrue();
      assertThat(client.lock(names[1]).tryAcquire(Duration.ZERO)).isEmpty();
    }
    try (Lease one = client.lock(names[1]).acquire()) {
      assertThat(client.allOf(names).tryAcquire()).isEmpty();
      assertThat(client.admin().find(names[0]).orElseThrow().holders()).isEmpty();
      assertThat(one.isValid()).isTrue();
    }
  }

  @Test
  void givenLocksInAllParts_whenTheyAreInspectedByPages_thenEachIsSeenOnce() throws Exception {
    Set<String> held = new TreeSet<>();
    List<Lease> leases = new ArrayList<>();
    for (int i : IntStream.range(0, 20).toArray()) {
      held.add("page/" + i);
      leases.add(client.lock("page/" + i).acquire());
    }
    for (int limit : new int[] {1, 3, 7, 100}) {
      List<String> seen = new ArrayList<>();
      Page<LockInfo> page = client.admin().list(LockQuery.beginningWith("page/").page(null, limit));
      while (true) {
        assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
        page.items().stream().map(LockInfo::name).forEach(seen::add);
        if (page.next() == null) {
          break;
        }
        page = client.admin().list(LockQuery.beginningWith("page/").page(page.next(), limit));
      }
      assertThat(seen).as("limit %d", limit).hasSize(20).containsAll(held);
    }
    leases.forEach(Lease::close);
    assertThat(BoundedWait.join(store.sweep(1000))).isZero();
    assertThatThrownBy(() -> client.admin().list(LockQuery.all().page("9:", 10)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasStackTraceContaining("is not a cursor");
  }

  @Test
  void givenLeasesInSeveralParts_whenTheClientIsClosed_thenNothingIsLeft() throws Exception {
    Lease first = client.lock(store.nameIn(0)).acquire();
    Lease second = client.lock(store.nameIn(2)).acquire();
    client.close();
    assertThat(first.isValid()).isFalse();
    assertThat(second.isValid()).isFalse();
    assertThat(BoundedWait.join(store.inspect(LockQuery.all())).items()).isEmpty();
    assertThatThrownBy(() -> client.lock("any").tryAcquire())
        .isInstanceOf(IllegalStateException.class);
  }
}
