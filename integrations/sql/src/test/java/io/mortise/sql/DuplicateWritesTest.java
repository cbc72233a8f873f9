package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The claims of docs/guides/sql-helpers.md about statements that teams use today. */
@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class DuplicateWritesTest extends HelperTest {
  DuplicateWritesTest(TestDatabase.Kind kind) {
    super(kind);
  }

  /** The others have no such statement, or it does something else there. */
  private boolean isAmong(TestDatabase.Kind... kinds) {
    return List.of(kinds).contains(kind);
  }

  @Test
  void givenWhereNotExists_whenTwoInsertWithoutAKey_thenBothDo() throws Exception {
    if (!isAmong(TestDatabase.Kind.POSTGRESQL, TestDatabase.Kind.H2)) {
      return;
    }
    Connection one = begin();
    execute(one, "CREATE TABLE unkeyed (id BIGINT NOT NULL)");
    one.commit();
    Connection two = begin();
    String insert =
        "INSERT INTO unkeyed SELECT 7 WHERE NOT EXISTS (SELECT 1 FROM unkeyed WHERE id = 7)";
    assertThat(execute(one, insert)).isEqualTo(1);
    assertThat(execute(two, insert)).isEqualTo(1);
    one.commit();
    two.commit();
    assertThat(number(one, "SELECT COUNT(*) FROM unkeyed")).isEqualTo(2);
  }

  @Test
  void givenInsertIgnore_whenAValueIsMissing_thenItInventsOne() throws Exception {
    if (!isAmong(TestDatabase.Kind.MYSQL, TestDatabase.Kind.MARIADB)) {
      return;
    }
    Connection connection = begin();
    assertThat(execute(connection, "INSERT IGNORE INTO account (id, balance) VALUES (7, NULL)"))
        .isEqualTo(1);
    assertThat(number(connection, "SELECT balance FROM account WHERE id = 7")).isZero();
  }

  @Test
  void givenInsertOrIgnore_whenAValueIsMissing_thenTheRowIsSkippedInSilence() throws Exception {
    if (!isAmong(TestDatabase.Kind.SQLITE)) {
      return;
    }
    Connection connection = begin();
    assertThat(execute(connection, "INSERT OR IGNORE INTO account (id, balance) VALUES (7, NULL)"))
        .isZero();
    assertThat(number(connection, "SELECT COUNT(*) FROM account WHERE id = 7")).isZero();
  }

  @Test
  void givenReplace_thenColumnsThatItDoesNotNameAreLost() throws Exception {
    if (!isAmong(TestDatabase.Kind.MYSQL, TestDatabase.Kind.MARIADB, TestDatabase.Kind.SQLITE)) {
      return;
    }
    Connection connection = begin();
    execute(connection, "UPDATE account SET fence_token = 34 WHERE id = 42");
    execute(connection, "REPLACE INTO account (id, balance) VALUES (42, 90)");
    assertThat(number(connection, "SELECT fence_token FROM account WHERE id = 42")).isZero();
  }

  @Test
  void givenUpsert_thenTheLastWriterWins_staleOrNot() throws Exception {
    Connection connection = begin();
    for (long balance : new long[] {60, 90}) {
      String values = " INTO account (id, balance) VALUES (42, " + balance + ")";
      execute(
          connection,
          switch (kind) {
            case POSTGRESQL, SQLITE ->
                "INSERT" + values + " ON CONFLICT (id) DO UPDATE SET balance = excluded.balance";
            case MYSQL, MARIADB ->
                "INSERT" + values + " ON DUPLICATE KEY UPDATE balance = VALUES(balance)";
            case H2 -> "MERGE INTO account (id, balance) KEY (id) VALUES (42, " + balance + ")";
          });
    }
    assertThat(balance(connection)).isEqualTo(90);
  }
}
