package io.mortise.testkit.contract.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockException;
import io.mortise.LockTimeoutException;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.LockState;
import io.mortise.admin.Page;
import io.mortise.event.LeaseEnd;
import io.mortise.spi.Capability;
import io.mortise.testkit.RecordingConsumer;
import io.mortise.testkit.StoreUnderTest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** An operator's actions on holders and waiters. */
class OperatorSuite extends ClientSuite {
  OperatorSuite(StoreUnderTest under) {
    super(under);
  }

  @Test
  void givenPrefixThatNoNameHas_thenItIsRefused() {
    LockAdmin admin = peer("a").client().admin();
    for (String prefix : List.of("a\nb", "\ud83d")) {
      assertThatThrownBy(() -> admin.list(LockQuery.beginningWith(prefix)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void givenLease_thenASurveyShowsIt_andTheSessionsShowItsProcess() throws Exception {
    Assumptions.assumeTrue(under.listsLocks(), "the store lists no locks");
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    LockAdmin admin = b.client().admin();
    LockInfo line =
        allPages(
                cursor -> admin.list(LockQuery.beginningWith(LOCK).summarized().page(cursor, 10)),
                Page::items,
                Page::next)
            .stream()
            .filter(lock -> lock.name().equals(LOCK))
            .findFirst()
            .orElseThrow();
    assertThat(line.state()).isEqualTo(LockState.HELD);
    assertThat(line.holders().get(0).attempt()).isEqualTo(holders(LOCK).get(0).attempt());
    assertThat(line.holders().get(0).sessionLeft()).as("a summary asks for no session").isNull();
    if (under.listsSessions()) {
      assertThat(allPages(cursor -> admin.sessions(cursor, 10), Page::items, Page::next))
          .anySatisfy(
              session -> {
                assertThat(line.holders().get(0).attempt()).startsWith(session.session());
                assertThat(session.left()).isPositive();
              });
    } else {
      assertThatThrownBy(() -> admin.sessions(null, 10))
          .isInstanceOf(UnsupportedByStoreException.class);
    }
    lease.close();
    assertNothingLeft(LOCK);
  }

  private static <P, T> List<T> allPages(
      Function<@Nullable String, P> ask,
      Function<P, List<T>> items,
      Function<P, @Nullable String> next) {
    List<T> all = new ArrayList<>();
    String cursor = null;
    do {
      P page = ask.apply(cursor);
      all.addAll(items.apply(page));
      cursor = next.apply(page);
    } while (cursor != null);
    return all;
  }

  @Test
  void givenLease_whenAnOperatorClosesIt_thenTheHolderIsTold_andTheLockOpensWhenItStops()
      throws Exception {
    needs(Capability.EVICT);
    Peer a = peer("a");
    Peer b = peer("b");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease lease = a.lock().acquire();
    lease.onLost(told);
    String attempt = holders(LOCK).get(0).attempt();

    assertThat(b.client().admin().evict(LOCK, attempt, Eviction.CLOSE))
        .isEqualTo(EvictionResult.HOLD_ENDED);

    told.await(1);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertStaysLost(lease, LeaseEnd.EVICTED);
    awaitFree(b.lock());
    assertNothingLeft(LOCK);
  }

  @Test
  void givenLease_whenAnOperatorBreaksIt_thenTheLockIsFreeAtOnce_andTheHolderIsTold()
      throws Exception {
    needs(Capability.EVICT);
    Peer a = peer("a");
    Peer b = peer("b");
    RecordingConsumer<LeaseLostException> told = new RecordingConsumer<>();
    Lease lease = a.lock().acquire();
    lease.onLost(told);
    String attempt = holders(LOCK).get(0).attempt();
    assertThat(b.client().admin().evict(LOCK, attempt, Eviction.BREAK))
        .isEqualTo(EvictionResult.HOLD_ENDED);
    Lease next = b.lock().tryAcquire().orElseThrow();
    told.await(1);
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertStaysLost(lease, LeaseEnd.EVICTED);
    assertThat(next.isValid()).isTrue();
    assertThat(holders(LOCK)).hasSize(1);
    next.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenWaiter_whenAnOperatorEvictsIt_thenItsWaitFails() throws Exception {
    // Both by a push and by a poll.
    needs(Capability.EVICT, Capability.QUEUE);
    Peer a = peer("a");
    Peer b = peer("b");
    Lease lease = a.lock().acquire();
    Future<Lease> waiting = acquiring(b.lock());
    awaitWaiters(LOCK, 1);
    String attempt = waiters(LOCK).get(0).attempt();
    assertThat(a.client().admin().evict(LOCK, attempt, Eviction.BREAK))
        .isEqualTo(EvictionResult.WAIT_ENDED);
    assertThat(failure(waiting))
        .isInstanceOf(LockException.class)
        .isNotInstanceOf(LockTimeoutException.class);
    lease.close();
    assertNothingLeft(LOCK);
  }

  @Test
  void givenStoreThatCannotEvict_thenItIsSaid() throws Exception {
    Assumptions.assumeFalse(can(Capability.EVICT), "the store has EVICT");
    Peer a = peer("a");
    Lease lease = a.lock().acquire();
    String attempt = holders(LOCK).get(0).attempt();
    assertThatThrownBy(() -> a.client().admin().evict(LOCK, attempt, Eviction.BREAK))
        .isInstanceOf(UnsupportedByStoreException.class);
    assertThat(lease.isValid()).isTrue();
    lease.close();
  }
}
