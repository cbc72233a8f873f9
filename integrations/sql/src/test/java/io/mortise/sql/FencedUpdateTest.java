package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.mortise.FencingToken;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class FencedUpdateTest extends HelperTest {
  FencedUpdateTest(TestDatabase.Kind kind) {
    super(kind);
  }

  private static FencedUpdate pay(long balance) {
    return FencedUpdate.of("account").set("balance", balance).where("id", 42);
  }

  @Test
  void givenLaterTokenInTheRow_whenEarlierHolderWrites_thenRefused_andWithoutFenceItWouldBeLost()
      throws Exception {
    try (Connection connection = database.connect()) {
      assertThat(pay(60).execute(connection, token(34))).isTrue();
      StaleTokenException refused =
          catchThrowableOfType(
              StaleTokenException.class, () -> pay(90).execute(connection, token(33)));
      assertThat(refused.currentToken()).isEqualTo(34);
      assertThat(refused.currentHolder()).isEqualTo("holder-34");
      assertThat(refused).hasMessageContaining("account").hasMessageContaining("id=42");
      assertThat(committedBalance()).isEqualTo(60);

      pay(connection, 90);
      assertThat(committedBalance()).as("the control: who does not ask, overwrites").isEqualTo(90);
    }
  }

  @Test
  void givenHolder_whenItWritesTwice_evenTheSame_thenItMay_butNoTwin() throws Exception {
    Connection connection = begin();
    assertThat(pay(60).execute(connection, token(34))).isTrue();
    assertThat(pay(60).execute(connection, token(34))).isTrue();
    assertThat(pay(50).execute(connection, token(34))).isTrue();
    FencingToken twin = new FencingToken("account/42", 34, "somebody else");
    assertThat(
            catchThrowableOfType(StaleTokenException.class, () -> pay(10).execute(connection, twin))
                .isGrantedTwice())
        .isTrue();
    connection.commit();
    assertThat(committedBalance()).isEqualTo(50);
  }

  @Test
  void givenUpdateThatSetsNothing_thenItInstallsTheToken_beforeTheRead() throws Exception {
    Connection stale = begin();
    Connection current = begin();
    assertThat(FencedUpdate.of("account").where("id", 42).execute(current, token(34))).isTrue();
    final long read = balance(current);
    current.commit();
    assertThatThrownBy(() -> pay(0).execute(stale, token(33)))
        .isInstanceOf(StaleTokenException.class);
    stale.rollback();
    pay(read - 10).execute(current, token(34));
    current.commit();
    assertThat(committedBalance()).isEqualTo(90);
  }

  @Test
  void givenNoSuchRow_thenFalse_andWrongUseIsRefused() throws Exception {
    try (Connection connection = database.connect()) {
      assertThat(
              FencedUpdate.of("account")
                  .set("balance", 1)
                  .where("id", 43)
                  .execute(connection, token(1)))
          .isFalse();
      assertThatThrownBy(
              () -> FencedUpdate.of("account").set("balance", 1).execute(connection, token(1)))
          .isInstanceOf(IllegalStateException.class);
      execute(connection, "INSERT INTO account (id, balance) VALUES (43, 100)");
      assertThatThrownBy(
              () ->
                  FencedUpdate.of("account")
                      .set("balance", 1)
                      .where("balance", 100)
                      .execute(connection, token(1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("2 rows");
    }
    for (String name : new String[] {"account; DROP TABLE account", "a b", "", "x = 1 --"}) {
      assertThatThrownBy(() -> FencedUpdate.of(name)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> FencedUpdate.of("account").where(name, 1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> FencedUpdate.of("account").set(name, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void givenSqlOfYourOwn_thenTheFragmentsFenceIt() throws Exception {
    try (Connection connection = database.connect();
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE account SET balance = balance - ?, "
                    + FencedUpdate.ASSIGNMENT
                    + " WHERE id = ? AND "
                    + FencedUpdate.CONDITION)) {
      for (long value : new long[] {33, 34, 33}) {
        update.setLong(1, 10);
        int next = FencedUpdate.bindAssignment(update, 2, token(value));
        update.setLong(next, 42);
        FencedUpdate.bindCondition(update, next + 1, token(value));
        update.executeUpdate();
      }
      assertThat(committedBalance()).as("the third is stale").isEqualTo(80);
    }
  }

  /** The tokens of successful writes must rise in every interleaving. */
  @Test
  void givenManyHoldersAtOnce_thenTheLatestTokenHasTheLastWord() throws Exception {
    AtomicLong tokens = new AtomicLong();
    List<Future<Void>> holders = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      holders.add(
          start(
              () -> {
                try (Connection connection = database.connect()) {
                  for (int i = 0; i < 25; i++) {
                    long value = tokens.incrementAndGet();
                    try {
                      pay(value).execute(connection, token(value));
                    } catch (StaleTokenException e) {
                      assertThat(e.currentToken()).isGreaterThan(value);
                    }
                  }
                }
                return null;
              }));
    }
    for (Future<Void> holder : holders) {
      get(holder);
    }
    assertThat(committedBalance()).isEqualTo(100);
  }
}
