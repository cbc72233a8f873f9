package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import io.mortise.testkit.StoreUnderTest;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * A process that holds very many locks. On CI a few on SQLite; with {@code -Dmortise.held=100000}
 * so many, on all databases or those that {@code -Dmortise.held.on} matches, and times are printed.
 */
class ManyHeldLocksTest {
  private static final Integer GIVEN = Integer.getInteger("mortise.held");
  private static final int LOCKS = GIVEN == null ? 1_000 : GIVEN;
  private static final int AT_ONCE = 256;
  private static final int RENEWALS = 20;

  @TestFactory
  @Timeout(540)
  Stream<DynamicTest> givenVeryManyHeldLocks_thenARenewalTouchesNone_andTheyAreListedPageByPage() {
    List<StorageSize> databases =
        new ArrayList<>(List.of(new StorageSize("SQLite", new SqliteUnderTest())));
    if (GIVEN != null) {
      databases.add(new StorageSize("PostgreSQL 18", new PostgresUnderTest(PostgresServers.V18)));
      databases.add(new StorageSize("MariaDB", new MySqlUnderTest(MySqlServers.MARIADB)));
      databases.add(new StorageSize("MySQL", new MySqlUnderTest(MySqlServers.MYSQL)));
    }
    String on = System.getProperty("mortise.held.on", ".*");
    return databases.stream()
        .filter(database -> database.name().matches(on))
        .map(database -> DynamicTest.dynamicTest(database.name(), () -> check(database)));
  }

  @Test
  void givenFewOrManyHeldLocks_thenARenewalTakesAsManyStatements_andAPageAFew()
      throws SQLException {
    CountingDataSource counting = counting();
    try (LockStore store = over(counting)) {
      SessionDriver session = SessionDriver.open(store, Duration.ofMinutes(10), "client");
      session.renew();
      long none = statements(counting, session::renew);
      for (int i = 0; i < 300; i++) {
        session.hold(name(i), Mode.EXCLUSIVE);
      }
      assertThat(statements(counting, session::renew)).isEqualTo(none).isLessThanOrEqualTo(5);
      assertThat(statements(counting, () -> BoundedWait.join(store.inspect(LockQuery.all()))))
          .isLessThanOrEqualTo(5);
    }
  }

  @Test
  @Timeout(300)
  void givenTenThousandLocks_thenASurveyTakesATenthOfTheStatementsOfALook() throws SQLException {
    CountingDataSource counting = counting();
    try (LockStore store = over(counting)) {
      SessionDriver session = SessionDriver.open(store, Duration.ofMinutes(10), "client");
      assertThat(all(session, 10_000, i -> acquire(name(i), session.attempt(), Mode.SHARED)))
          .allMatch(Reply.Granted.class::isInstance);
      long looking = statements(counting, 1, () -> pages(store, 1000, false));
      long surveying = statements(counting, 5, () -> assertThat(survey(store)).isEqualTo(10_000));
      assertThat(surveying).isLessThanOrEqualTo(looking / 10).isLessThanOrEqualTo(2 * 10);
    }
  }

  private static CountingDataSource counting() throws SQLException {
    String url = PostgresServers.V18.shared().url();
    return new CountingDataSource(DatabaseProduct.POSTGRESQL.source(url));
  }

  private static LockStore over(CountingDataSource counting) {
    return JdbcStore.over(counting.source(), "namespace=" + PostgresServers.namespace());
  }

  private static int survey(LockStore store) {
    LockQuery next = LockQuery.all().page(null, 1000);
    for (int found = 0; ; ) {
      Page<LockInfo> page = BoundedWait.join(store.inspect(next.summarized()));
      found += page.items().size();
      String cursor = page.next();
      if (cursor == null) {
        return found;
      }
      next = next.page(cursor, next.limit());
    }
  }

  /** The fewest of some tries: meanwhile others look for notifications. */
  private static long statements(CountingDataSource counting, Runnable doing) {
    return statements(counting, 30, doing);
  }

  private static long statements(CountingDataSource counting, int tries, Runnable doing) {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < tries; i++) {
      long before = counting.count();
      doing.run();
      fewest = Math.min(fewest, counting.count() - before);
    }
    return fewest;
  }

  private record StorageSize(String name, StoreUnderTest under) {}

  private static void check(StorageSize database) {
    try (StoreUnderTest under = database.under();
        LockStore store = under.open()) {
      SessionDriver session = SessionDriver.open(store, Duration.ofMinutes(10), "client");
      List<AttemptId> attempts = new ArrayList<>();
      for (int i = 0; i < LOCKS; i++) {
        attempts.add(session.attempt());
      }

      long began = System.nanoTime();
      List<Reply> granted =
          all(session, LOCKS, i -> acquire(name(i), attempts.get(i), Mode.EXCLUSIVE));
      long taken = System.nanoTime() - began;
      assertThat(granted).allMatch(Reply.Granted.class::isInstance);

      // Every write to a lock's row changes the view of its holder.
      Set<Page<LockInfo>> before = pages(store, 1000, false);
      long[] renewals = new long[RENEWALS];
      for (int i = 0; i < RENEWALS; i++) {
        began = System.nanoTime();
        assertThat(session.renew()).isInstanceOf(Renewal.Renewed.class);
        renewals[i] = System.nanoTime() - began;
      }
      Arrays.sort(renewals);

      began = System.nanoTime();
      Page<LockInfo> first = BoundedWait.join(store.inspect(LockQuery.all()));
      long page = System.nanoTime() - began;
      assertThat(first.items()).hasSizeLessThanOrEqualTo(200);
      began = System.nanoTime();
      int listed = pages(store, 200, true).size();
      long list = System.nanoTime() - began;
      assertThat(listed).isEqualTo((LOCKS + 199) / 200);
      assertThat(before.stream().mapToInt(one -> one.items().size()).sum()).isEqualTo(LOCKS);

      began = System.nanoTime();
      assertThat(survey(store)).isEqualTo(LOCKS);
      long survey = System.nanoTime() - began;

      began = System.nanoTime();
      List<Reply> ended = all(session, LOCKS, i -> new Request.Abandon(name(i), attempts.get(i)));
      long given = System.nanoTime() - began;
      assertThat(ended)
          .allMatch(
              reply -> reply instanceof Reply.Ended end && end.was() == Reply.AttemptState.HELD);
      System.out.printf(
          "%s, %d held: taken in %.1f s, a renewal %.2f ms (most %.2f), a page of 200 %.1f ms, all"
              + " pages %.1f s, a survey %.2f s, released in %.1f s%n",
          database.name(),
          LOCKS,
          taken / 1e9,
          renewals[RENEWALS / 2] / 1e6,
          renewals[RENEWALS - 1] / 1e6,
          page / 1e6,
          list / 1e9,
          survey / 1e9,
          given / 1e9);
    }
  }

  private static LockName name(int number) {
    return LockName.of("held/" + number);
  }

  private static Request acquire(LockName name, AttemptId attempt, Mode mode) {
    return new Request.Acquire(name, attempt, mode, false, HoldTerms.NONE, 1, 0, null);
  }

  private interface RequestFactory {
    Request at(int number);
  }

  private static List<Reply> all(SessionDriver session, int count, RequestFactory requestFactory) {
    AtomicReferenceArray<Reply> replies = new AtomicReferenceArray<>(count);
    Semaphore room = new Semaphore(AT_ONCE);
    for (int i = 0; i < count; i++) {
      int number = i;
      room.acquireUninterruptibly();
      session
          .session()
          .submit(
              requestFactory.at(number),
              reply -> {
                replies.set(number, reply);
                room.release();
              });
    }
    room.acquireUninterruptibly(AT_ONCE);
    List<Reply> list = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      list.add(replies.get(i));
    }
    return list;
  }

  private static Set<Page<LockInfo>> pages(LockStore store, int limit, boolean idle) {
    Set<Page<LockInfo>> pages = new HashSet<>();
    LockQuery next = (idle ? LockQuery.all().withIdle() : LockQuery.all()).page(null, limit);
    while (true) {
      Page<LockInfo> page = BoundedWait.join(store.inspect(next));
      assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
      pages.add(page);
      String cursor = page.next();
      if (cursor == null) {
        return pages;
      }
      next = next.page(cursor, next.limit());
    }
  }
}
