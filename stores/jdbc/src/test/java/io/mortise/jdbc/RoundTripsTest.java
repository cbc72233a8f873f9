package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockQuery;
import io.mortise.jdbc.batch.StoreTask;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Counts round trips to a server, each of which takes as long as the network. All requests of a
 * process share one connection, so each step delays those of other locks.
 */
@Tag("extended")
class RoundTripsTest {
  private static final int TRIES = 20;
  private static final int CROWD = 40;
  private static final Duration TTL = Duration.ofMinutes(1);

  private final String namespace = "trips" + UUID.randomUUID();

  @ParameterizedTest
  @EnumSource
  void givenLockWithAHolderAndAWaiter_thenRenewingTakesOne_andLookingTwo(
      DatabaseProduct databaseProduct) throws SQLException {
    CountingDataSource counting = counting(databaseProduct);
    try (LockStore store = open(counting)) {
      TestSession holder = new TestSession(store, TTL);
      TestSession waiter = new TestSession(store, TTL);
      assertThat(
              fewest(
                  counting, () -> assertThat(holder.renew()).isInstanceOf(Renewal.Renewed.class)))
          .isEqualTo(1);

      holder.granted("looked at", holder.attempt());
      AttemptId waiting = waiter.attempt();
      waiter.acquire("looked at", waiting);
      LockQuery query = LockQuery.of("looked at");
      assertThat(
              fewest(
                  counting,
                  () ->
                      assertThat(BoundedWait.join(store.inspect(query)).items())
                          .singleElement()
                          .satisfies(
                              view -> {
                                assertThat(view.holders().get(0).client()).isNotNull();
                                assertThat(view.waiters()).hasSize(1);
                              })))
          .isEqualTo(2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenSessionWithNews_whenRenewed_thenItIsTold_andForgetsWhatItKnows(
      DatabaseProduct databaseProduct) throws SQLException {
    try (SeparateProcesses separateProcesses = new SeparateProcesses(databaseProduct)) {
      CountingDataSource counting = separateProcesses.counting;
      TestSession holder = separateProcesses.here;
      TestSession waiter = separateProcesses.elsewhere;
      AttemptId held = holder.attempt();
      holder.granted("wanted", held);
      waiter.acquire("wanted", waiter.attempt());
      Renewal.Renewed renewed = (Renewal.Renewed) holder.renew();
      assertThat(renewed.notifications()).hasSize(1);
      assertThat(renewed.storeMicros()).isPositive();
      Long known = renewed.notifications().get(0).id();
      Renewal.Renewed next = (Renewal.Renewed) holder.renew(known, known + 1, known + 2);
      assertThat(next.notifications()).isEmpty();
      assertThat(next.storeMicros()).isGreaterThan(renewed.storeMicros());
      assertThat(fewest(counting, () -> holder.renew(1L, 2L, 3L))).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenLockThatCameByTheQueue_whenReleased_thenThatTakesOne(DatabaseProduct databaseProduct)
      throws SQLException {
    try (SeparateProcesses separateProcesses = new SeparateProcesses(databaseProduct)) {
      CountingDataSource counting = separateProcesses.counting;
      TestSession holder = separateProcesses.elsewhere;
      TestSession waiter = separateProcesses.here;
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < TRIES; i++) {
        String name = "inherited " + i;
        AttemptId held = holder.attempt();
        holder.granted(name, held);
        AttemptId next = waiter.attempt();
        assertThat(waiter.acquire(name, next)).isInstanceOf(Reply.Queued.class);
        holder.abandon(name, held);
        waiter.granted(name, next);
        long before = counting.count();
        waiter.abandon(name, next);
        fewest = Math.min(fewest, counting.count() - before);
      }
      assertThat(fewest).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenACrowdOfOneLock_whenAllAskAtOnce_thenItsRowIsReadForAllOfThem(
      DatabaseProduct databaseProduct) throws Exception {
    try (SeparateProcesses separateProcesses = new SeparateProcesses(databaseProduct)) {
      CountingDataSource counting = separateProcesses.counting;
      TestSession waiters = separateProcesses.here;
      separateProcesses.elsewhere.granted("crowd", separateProcesses.elsewhere.attempt());
      List<Request> polls = new ArrayList<>();
      for (int i = 0; i < CROWD; i++) {
        polls.add(
            TestSession.request(
                "crowd", waiters.attempt(), Mode.EXCLUSIVE, true, TestSession.NO_TERMS, null));
      }
      long before = counting.count();
      List<CompletableFuture<Reply>> joining = atOnce(separateProcesses.store, waiters, polls);
      for (int i = 0; i < CROWD; i++) {
        assertThat(((Reply.Queued) TestSession.get(joining.get(i))).ahead()).isEqualTo(i);
      }
      // Of each only its place is written, some at a time.
      assertThat(counting.count() - before).isLessThan(CROWD / 2);

      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < TRIES; i++) {
        before = counting.count();
        for (CompletableFuture<Reply> poll : atOnce(separateProcesses.store, waiters, polls)) {
          assertThat(TestSession.get(poll)).isInstanceOf(Reply.Queued.class);
        }
        fewest = Math.min(fewest, counting.count() - before);
      }
      // The task that kept the executor busy, the first request, and a read and an end for all
      // others.
      assertThat(fewest).isLessThanOrEqualTo(6);
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenHolder_whenEvicted_thenAllIsReadAhead(DatabaseProduct databaseProduct)
      throws SQLException {
    CountingDataSource counting = counting(databaseProduct);
    try (LockStore store = open(counting)) {
      TestSession holder = new TestSession(store, TTL);
      TestSession waiter = new TestSession(store, TTL);
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < TRIES; i++) {
        AttemptId held = holder.attempt();
        holder.granted("lock", held);
        AttemptId next = waiter.attempt();
        waiter.acquire("lock", next, Mode.EXCLUSIVE, true);
        long before = counting.count();
        Reply.Ended ended =
            BoundedWait.join(store.evict(LockName.of("lock"), held, Eviction.BREAK));
        fewest = Math.min(fewest, counting.count() - before);
        assertThat(ended.how()).isEqualTo(Reply.EndReason.EVICTED);
        assertThat(waiter.abandon("lock", next).was()).isEqualTo(Reply.AttemptState.HELD);
      }
      // It is judged first, by up to four.
      assertThat(fewest).isLessThanOrEqualTo(6);
    }
  }

  /** Two processes, as it were, each with a session; of one it is counted what it asks. */
  private final class SeparateProcesses implements AutoCloseable {
    final CountingDataSource counting;
    final LockStore store;
    final TestSession here;
    final TestSession elsewhere;
    private final LockStore other;

    SeparateProcesses(DatabaseProduct databaseProduct) throws SQLException {
      counting = counting(databaseProduct);
      store = open(counting);
      other = open(counting(databaseProduct));
      here = new TestSession(store, TTL);
      elsewhere = new TestSession(other, TTL);
    }

    @Override
    public void close() {
      try (store) {
        other.close();
      }
    }
  }

  /** Asks for all of it while the executor is busy, so that it travels together. */
  private static List<CompletableFuture<Reply>> atOnce(
      LockStore store, TestSession session, List<Request> requests) throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    ((JdbcLockStore) store)
        .requests.submit(
            StoreTask.ValueTask.single(
                storeConnection -> {
                  busy.countDown();
                  return awaited(go);
                }));
    assertThat(busy.await(20, TimeUnit.SECONDS)).isTrue();
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (Request request : requests) {
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      session.session.submit(request, reply::complete);
      replies.add(reply);
    }
    go.countDown();
    return replies;
  }

  private static boolean awaited(CountDownLatch latch) {
    try {
      return latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private LockStore open(CountingDataSource counting) {
    return JdbcStore.over(counting.source(), "max-in-flight=4s&namespace=" + namespace);
  }

  private static CountingDataSource counting(DatabaseProduct databaseProduct) throws SQLException {
    return new CountingDataSource(databaseProduct.source(url(databaseProduct)));
  }

  private static String url(DatabaseProduct databaseProduct) {
    return switch (databaseProduct) {
      case POSTGRESQL -> PostgresServers.V18.shared().url();
      case MYSQL -> several(MySqlServers.MYSQL.url());
      default -> several(MySqlServers.MARIADB.url());
    };
  }

  private static String several(String url) {
    return url + (url.contains("?") ? "&" : "?") + "allowMultiQueries=true";
  }

  /** The fewest statements of some tries: meanwhile others look for notifications. */
  private static long fewest(CountingDataSource counting, Runnable doing) {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < TRIES; i++) {
      long before = counting.count();
      doing.run();
      fewest = Math.min(fewest, counting.count() - before);
    }
    return fewest;
  }
}
