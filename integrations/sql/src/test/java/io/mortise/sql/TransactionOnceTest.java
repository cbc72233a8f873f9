package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.sql.TransactionOnce.KeptResult;
import io.mortise.testkit.RerunIfPaused;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class TransactionOnceTest extends HelperTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final AtomicInteger runs = new AtomicInteger();
  private SqlHelpers helpers;
  private TransactionOnce once;

  TransactionOnceTest(TestDatabase.Kind kind) {
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

  /** Takes one from the account, and returns the number of the run. */
  private byte[] payOne(Connection connection) throws SQLException {
    int run = runs.incrementAndGet();
    execute(connection, "UPDATE account SET balance = balance - 1 WHERE id = 42");
    return ("run " + run).getBytes(StandardCharsets.UTF_8);
  }

  private KeptResult runIn(Connection connection) throws SQLException {
    return once.run(connection, "pay/7", () -> payOne(connection));
  }

  private static String text(KeptResult result) {
    return new String(result.value(), StandardCharsets.UTF_8);
  }

  @Test
  void givenDone_thenLaterCallersGetTheResultWithoutRunning() throws Exception {
    Connection one = begin();
    KeptResult first = runIn(one);
    assertThat(first.ranHere()).isTrue();
    KeptResult again = runIn(one);
    assertThat(again.ranHere()).as("in the same transaction").isFalse();
    one.commit();

    KeptResult later = runIn(begin());
    assertThat(later.ranHere()).isFalse();
    assertThat(text(later)).isEqualTo("run 1");
    later.value()[0] = 'x';
    assertThat(text(later)).isEqualTo("run 1");
    assertThat(once.result("pay/7").map(TransactionOnceTest::text)).hasValue("run 1");
    assertThat(once.result("pay/8")).isEmpty();
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
    Future<KeptResult> second = start(() -> runIn(two));
    assertThat(waits(second)).isTrue();
    one.rollback();
    assertThat(get(second).ranHere()).isTrue();
    Connection three = begin();
    Future<KeptResult> third = start(() -> runIn(three));
    assertThat(waits(third)).isTrue();
    if (kind == TestDatabase.Kind.H2 || kind == TestDatabase.Kind.SQLITE) {
      two.close();
    } else {
      two.abort(Runnable::run); // As if its process had died: the server is not told.
    }
    assertThat(get(third).ranHere()).isTrue();
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
    assertThat(runIn(connection).ranHere()).isTrue();
  }

  @Test
  @RerunIfPaused
  void givenExpiry_thenItIsDoneAgainAfterwards() throws Exception {
    TransactionOnce brief = once.keepFor(Duration.ofSeconds(4));
    Connection connection = begin();
    assertThat(brief.run(connection, "k", () -> payOne(connection)).ranHere()).isTrue();
    connection.commit();
    assertThat(brief.run(connection, "k", () -> payOne(connection)).ranHere()).isFalse();
    connection.commit();
    await()
        .atMost(LONG)
        .until(
            () -> {
              boolean ran = brief.run(connection, "k", () -> payOne(connection)).ranHere();
              connection.commit();
              return ran;
            });
    assertThat(runs).hasValue(2);
    assertThatThrownBy(() -> once.keepFor(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenResult_thenSixtyFourKibibytesAreKept_andNoMore_andNoneIsFine() throws Exception {
    byte[] large = new byte[TransactionOnce.MAX_RESULT_BYTES];
    large[TransactionOnce.MAX_RESULT_BYTES - 1] = 7;
    Connection connection = begin();
    once.run(connection, "large", () -> large);
    once.run(connection, "none", () -> new byte[0]);
    connection.commit();
    assertThat(once.result("large").orElseThrow().value()).isEqualTo(large);
    assertThat(once.result("none").orElseThrow().value()).isEmpty();
    assertThatThrownBy(
            () ->
                once.run(connection, "huge", () -> new byte[TransactionOnce.MAX_RESULT_BYTES + 1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536");
    connection.rollback();
    assertThat(once.result("huge")).isEmpty();
  }

  @Test
  void givenForgotten_thenItRunsAgain() throws Exception {
    Connection connection = begin();
    runIn(connection);
    connection.commit();
    assertThat(once.forget(connection, "pay/7")).isTrue();
    assertThat(once.forget(connection, "pay/8")).isFalse();
    connection.commit();
    assertThat(runIn(connection).ranHere()).isTrue();
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
}
