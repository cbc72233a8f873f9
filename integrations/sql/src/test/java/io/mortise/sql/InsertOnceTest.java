package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class InsertOnceTest extends HelperTest {
  InsertOnceTest(TestDatabase.Kind kind) {
    super(kind);
  }

  private static InsertOnce account(long id) {
    return InsertOnce.into("account").value("id", id).value("balance", 5L);
  }

  @Test
  void givenRow_whenInsertedAgain_thenFalse_andTheTransactionGoesOn() throws Exception {
    Connection connection = begin();
    assertThat(account(7).execute(connection)).isTrue();
    assertThat(account(7).execute(connection)).isFalse();
    assertThat(account(42).execute(connection)).isFalse();
    assertThat(account(8).execute(connection)).isTrue();
    connection.commit();
    assertThat(number(connection, "SELECT COUNT(*) FROM account")).isEqualTo(3);
    assertThat(balance(connection)).as("what was there stays").isEqualTo(100);
  }

  @Test
  void givenOtherFault_thenAnException_notFalse() throws Exception {
    Connection connection = begin();
    assertThatThrownBy(
            () ->
                InsertOnce.into("account")
                    .value("id", 9)
                    .value("balance", null)
                    .execute(connection))
        .isInstanceOf(SQLException.class);
    connection.rollback();
    assertThatThrownBy(() -> InsertOnce.into("account").execute(connection))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> InsertOnce.into("account").value("1 = 1", 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void givenOpenInsert_whenAnotherInsertsTheSame_thenItWaits_andTakesOverAfterARollback()
      throws Exception {
    Connection first = begin();
    assertThat(account(7).execute(first)).isTrue();
    Connection second = begin();
    Future<Boolean> other = start(() -> account(7).execute(second));
    assertThat(waits(other)).isTrue();
    first.rollback();
    assertThat(get(other)).isTrue();
    second.commit();
    assertThat(account(7).execute(first)).isFalse();
  }

  @Test
  void givenManyAtOnce_thenOneInserts_andWithLookBeforeYouInsertSeveralThinkThatTheyDo()
      throws Exception {
    List<Future<Boolean>> insertions = new ArrayList<>();
    CyclicBarrier start = new CyclicBarrier(6);
    for (int t = 0; t < 6; t++) {
      insertions.add(
          start(
              () -> {
                try (Connection connection = database.connect()) {
                  start.await();
                  return account(7).execute(connection);
                }
              }));
    }
    int inserted = 0;
    for (Future<Boolean> insertion : insertions) {
      inserted += get(insertion) ? 1 : 0;
    }
    assertThat(inserted).isEqualTo(1);

    // The control: both look, both see nothing. Without a key both rows would be there.
    try (Connection ddl = database.connect()) {
      execute(ddl, "CREATE TABLE unkeyed (id BIGINT NOT NULL)");
    }
    Connection one = begin();
    Connection two = begin();
    assertThat(number(one, "SELECT COUNT(*) FROM unkeyed WHERE id = 7")).isZero();
    assertThat(number(two, "SELECT COUNT(*) FROM unkeyed WHERE id = 7")).isZero();
    one.commit();
    two.commit();
    execute(one, "INSERT INTO unkeyed (id) VALUES (7)");
    one.commit();
    execute(two, "INSERT INTO unkeyed (id) VALUES (7)");
    two.commit();
    assertThat(number(one, "SELECT COUNT(*) FROM unkeyed WHERE id = 7")).isEqualTo(2);
  }
}
