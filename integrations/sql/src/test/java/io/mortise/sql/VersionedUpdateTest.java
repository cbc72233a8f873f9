package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.sql.VersionedUpdate.Missing;
import io.mortise.sql.VersionedUpdate.Outcome;
import io.mortise.sql.VersionedUpdate.Stale;
import io.mortise.sql.VersionedUpdate.Updated;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class VersionedUpdateTest extends HelperTest {
  VersionedUpdateTest(TestDatabase.Kind kind) {
    super(kind);
  }

  private static VersionedUpdate pay(long balance) {
    return VersionedUpdate.of("account").set("balance", balance).where("id", 42);
  }

  @Test
  void givenVersionThatWasRead_thenUpdated_andWithAnOldOneStale_andWithoutRowMissing()
      throws Exception {
    try (Connection connection = database.connect()) {
      assertThat(pay(90).execute(connection, 0)).isEqualTo(new Updated(1));
      assertThat(pay(80).execute(connection, 0)).isEqualTo(new Stale(1));
      assertThat(pay(90).execute(connection, 1))
          .as("the same value again")
          .isEqualTo(new Updated(2));
      assertThat(pay(80).execute(connection, 3)).as("a row restored").isEqualTo(new Stale(2));
      assertThat(
              VersionedUpdate.of("account")
                  .set("balance", 1)
                  .where("id", 43)
                  .execute(connection, 0))
          .isEqualTo(new Missing());
      assertThat(committedBalance()).isEqualTo(90);
    }
  }

  @Test
  void givenOtherColumn_thenItIsTheVersion() throws Exception {
    try (Connection connection = database.connect()) {
      assertThat(pay(90).version("fence_token").execute(connection, 0)).isEqualTo(new Updated(1));
      assertThatThrownBy(() -> pay(90).version("a = b"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void givenTwoWhoReadTheSame_thenTheSecondIsStale_andWithoutVersionItsWriteWouldBeLost()
      throws Exception {
    Connection one = begin();
    Connection two = begin();
    long read = balance(one);
    one.commit();
    assertThat(balance(two)).isEqualTo(read);
    two.commit();
    assertThat(pay(read - 10).execute(one, 0)).isEqualTo(new Updated(1));
    Future<Outcome> second = start(() -> pay(read - 20).execute(two, 0));
    assertThat(waits(second)).as("for the first to commit").isTrue();
    one.commit();
    assertThat(get(second)).isEqualTo(new Stale(1));
    two.rollback();
    assertThat(committedBalance()).isEqualTo(90);

    pay(one, read - 10);
    one.commit();
    pay(two, read - 20);
    two.commit();
    assertThat(committedBalance()).as("the control: 30 were paid, 20 are gone").isEqualTo(80);
  }

  @Test
  void givenManyWhoTryAgain_thenNothingIsLost() throws Exception {
    OptimisticRetry retry = new OptimisticRetry(1000, Duration.ofMillis(1), Duration.ofMillis(20));
    List<Future<Void>> payers = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Connection connection = begin();
      payers.add(
          start(
              () -> {
                for (int i = 0; i < 10; i++) {
                  Outcome outcome = retry.run(() -> payOne(connection));
                  assertThat(outcome).isInstanceOf(Updated.class);
                }
                return null;
              }));
    }
    for (Future<Void> payer : payers) {
      get(payer);
    }
    assertThat(committedBalance()).isEqualTo(60);
  }

  private static Outcome payOne(Connection connection) throws SQLException {
    long balance;
    long version;
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT balance, version FROM account WHERE id = 42")) {
      row.next();
      balance = row.getLong(1);
      version = row.getLong(2);
    }
    // What was read counts by its version: no lock is needed from here to there.
    connection.commit();
    Outcome outcome = pay(balance - 1).execute(connection, version);
    connection.commit();
    return outcome;
  }
}
