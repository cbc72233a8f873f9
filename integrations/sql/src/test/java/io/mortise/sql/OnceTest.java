package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.DistributedLock;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import io.mortise.admin.Eviction;
import io.mortise.testkit.RerunIfPaused;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class OnceTest extends HelperTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();
  private SqlHelpers helpers;
  private Once once;

  OnceTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @BeforeEach
  void openHelpers() {
    helpers = SqlHelpers.open(database.dataSource());
    once = helpers.once();
  }

  @AfterEach
  void closeHelpers() {
    helpers.close();
  }

  /** Takes one from the account, and tells which run it was. */
  private byte[] payOne(Connection connection) throws SQLException {
    int run = runs.incrementAndGet();
    execute(connection, "UPDATE account SET balance = balance - 1 WHERE id = 42");
    return ("run " + run).getBytes(StandardCharsets.UTF_8);
  }

  private Once.Outcome runIn(Connection connection) throws SQLException {
    return once.run(connection, "pay/7", () -> payOne(connection));
  }

  private static String text(Once.Outcome outcome) {
    return new String(outcome.result(), StandardCharsets.UTF_8);
  }

  @Test
  void givenDone_thenLaterCallersGetTheResultWithoutRunning() throws Exception {
    Connection one = begin();
    Once.Outcome first = runIn(one);
    assertThat(first.ran()).isTrue();
    Once.Outcome again = runIn(one);
    assertThat(again.ran()).as("in the same transaction").isFalse();
    one.commit();

    Once.Outcome later = runIn(begin());
    assertThat(later.ran()).isFalse();
    assertThat(text(later)).isEqualTo("run 1");
    later.result()[0] = 'x';
    assertThat(text(later)).isEqualTo("run 1");
    assertThat(once.find("pay/7").map(OnceTest::text)).hasValue("run 1");
    assertThat(once.find("pay/8")).isEmpty();
    assertThat(committedBalance()).isEqualTo(99);
  }

  @Test
  void givenManyAtOnce_thenOneRuns_andWithoutOnceAllDo() throws Exception {
    assertThat(payAtOnce(false)).as("the control").isEqualTo(5);
    assertThat(committedBalance()).isEqualTo(95);
    runs.set(0);
    assertThat(payAtOnce(true)).isEqualTo(1);
    assertThat(committedBalance()).isEqualTo(94);
  }

  private int payAtOnce(boolean guarded) throws Exception {
    CyclicBarrier start = new CyclicBarrier(5);
    List<Future<Void>> payers = new ArrayList<>();
    for (int t = 0; t < 5; t++) {
      Connection connection = begin();
      payers.add(
          start(
              () -> {
                start.await();
                if (guarded) {
                  assertThat(text(runIn(connection))).isEqualTo("run 1");
                } else {
                  payOne(connection);
                }
                connection.commit();
                return null;
              }));
    }
    for (Future<Void> payer : payers) {
      get(payer);
    }
    return runs.get();
  }

  @Test
  void givenRunnerThatRollsBackOrDies_thenTheNextRuns_andTheWorkIsThereOnce() throws Exception {
    Connection one = begin();
    runIn(one);
    Connection two = begin();
    Future<Once.Outcome> second = start(() -> runIn(two));
    assertThat(waits(second)).isTrue();
    one.rollback();
    assertThat(get(second).ran()).isTrue();
    Connection three = begin();
    Future<Once.Outcome> third = start(() -> runIn(three));
    assertThat(waits(third)).isTrue();
    if (kind == TestDatabase.Kind.H2 || kind == TestDatabase.Kind.SQLITE) {
      two.close();
    } else {
      two.abort(Runnable::run); // As if its process had died: no word to the server.
    }
    assertThat(get(third).ran()).isTrue();
    three.commit();
    assertThat(runs).hasValue(3);
    assertThat(committedBalance()).isEqualTo(99);
  }

  @Test
  void givenFailure_thenItIsNotDone() throws Exception {
    Connection connection = begin();
    assertThatThrownBy(
            () ->
                once.run(
                    connection,
                    "pay/7",
                    () -> {
                      throw new IllegalStateException("no money");
                    }))
        .hasMessage("no money");
    connection.rollback();
    assertThat(runIn(connection).ran()).isTrue();
  }

  @Test
  @RerunIfPaused
  void givenExpiry_thenItIsDoneAgainAfterwards() throws Exception {
    Once brief = once.expiringAfter(Duration.ofSeconds(4));
    Connection connection = begin();
    assertThat(brief.run(connection, "k", () -> payOne(connection)).ran()).isTrue();
    connection.commit();
    assertThat(brief.run(connection, "k", () -> payOne(connection)).ran()).isFalse();
    connection.commit();
    await()
        .atMost(LONG)
        .until(
            () -> {
              boolean ran = brief.run(connection, "k", () -> payOne(connection)).ran();
              connection.commit();
              return ran;
            });
    assertThat(runs).hasValue(2);
    assertThatThrownBy(() -> once.expiringAfter(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenResult_thenSixtyFourKibibytesAreKept_andNoMore_andNoneIsFine() throws Exception {
    byte[] large = new byte[Once.MAX_RESULT];
    large[Once.MAX_RESULT - 1] = 7;
    Connection connection = begin();
    once.run(connection, "large", () -> large);
    once.run(connection, "none", () -> new byte[0]);
    connection.commit();
    assertThat(once.find("large").orElseThrow().result()).isEqualTo(large);
    assertThat(once.find("none").orElseThrow().result()).isEmpty();
    assertThatThrownBy(() -> once.run(connection, "huge", () -> new byte[Once.MAX_RESULT + 1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536");
    connection.rollback();
    assertThat(once.find("huge")).isEmpty();
  }

  @Test
  void givenForgotten_thenItRunsAgain() throws Exception {
    Connection connection = begin();
    runIn(connection);
    connection.commit();
    assertThat(once.forget(connection, "pay/7")).isTrue();
    assertThat(once.forget(connection, "pay/8")).isFalse();
    connection.commit();
    assertThat(runIn(connection).ran()).isTrue();
  }

  @Test
  void givenAutocommitOrNoKey_thenRefused() throws Exception {
    try (Connection connection = database.connect()) {
      assertThatThrownBy(() -> runIn(connection))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("autocommit");
    }
    assertThatThrownBy(() -> once.run(begin(), "", () -> new byte[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private Once.Outcome runUnder(DistributedLock lock) throws Exception {
    return once.run(
        lock, LONG, lease -> ("run " + runs.incrementAndGet()).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void givenLock_thenOneOfManyRuns_andAfterAFailureTheNext() throws Exception {
    try (LockClient client = LockClient.connect("mem:")) {
      DistributedLock lock = client.lock("report/2026-11");
      assertThatThrownBy(
              () ->
                  once.run(
                      lock,
                      LONG,
                      lease -> {
                        throw new java.io.IOException("mail is down");
                      }))
          .isInstanceOf(java.io.IOException.class);
      List<Future<Once.Outcome>> callers = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        callers.add(start(() -> runUnder(lock)));
      }
      for (Future<Once.Outcome> caller : callers) {
        assertThat(text(get(caller))).isEqualTo("run 1");
      }
      assertThat(runs).hasValue(1);
      assertThat(client.admin().find("report/2026-11").orElseThrow().holders()).isEmpty();
    }
  }

  @Test
  void givenRunnerThatLostItsLease_whenAnotherHasRun_thenItCannotRecord() throws Exception {
    try (LockClient client = LockClient.connect("mem:")) {
      DistributedLock lock = client.lock("report/2026-11");
      CountDownLatch running = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      Future<Once.Outcome> stale =
          start(
              () ->
                  once.run(
                      lock,
                      LONG,
                      lease -> {
                        running.countDown();
                        goOn.await();
                        return "stale".getBytes(StandardCharsets.UTF_8);
                      }));
      running.await();
      client
          .admin()
          .evict(
              lock.name(),
              client.admin().find(lock.name()).orElseThrow().holders().get(0).attempt(),
              Eviction.BREAK);
      Once.Outcome current = runUnder(lock);
      assertThat(current.ran()).isTrue();
      goOn.countDown();
      assertThatThrownBy(() -> get(stale)).isInstanceOf(StaleTokenException.class);
      assertThat(once.find(lock.name()).map(OnceTest::text)).hasValue("run 1");
    }
  }

  /** Connections that, as those of pools, serve no interrupted thread. */
  private DataSource interruptible(AtomicBoolean interrupts) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (source, open, none) -> {
              Connection connection = database.connect();
              return Proxy.newProxyInstance(
                  Connection.class.getClassLoader(),
                  new Class<?>[] {Connection.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                      if (interrupts.getAndSet(false)) {
                        Thread.currentThread().interrupt();
                      }
                      if (Thread.currentThread().isInterrupted()) {
                        throw new SQLException("Interrupted while it waited for a connection.");
                      }
                    }
                    return method.invoke(connection, arguments);
                  });
            });
  }

  @Test
  void givenInterruptsAtTheEndOfTheTask_thenItsResultIsRecorded_andTheFlagKept() throws Exception {
    AtomicBoolean interrupts = new AtomicBoolean();
    try (LockClient client = LockClient.connect("mem:");
        SqlHelpers pooled = SqlHelpers.open(interruptible(interrupts))) {
      DistributedLock lock = client.lock("report/2026-11");
      Once.Outcome outcome =
          pooled
              .once()
              .run(
                  lock,
                  LONG,
                  lease -> {
                    Thread.currentThread().interrupt();
                    interrupts.set(true);
                    return ("run " + runs.incrementAndGet()).getBytes(StandardCharsets.UTF_8);
                  });
      assertThat(Thread.interrupted()).isTrue();
      assertThat(outcome.ran()).isTrue();
      assertThat(runUnder(lock).ran()).isFalse();
      assertThat(runs).hasValue(1);
    }
  }
}
