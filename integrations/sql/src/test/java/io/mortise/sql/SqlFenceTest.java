package io.mortise.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.Kind.class)
class SqlFenceTest extends HelperTest {
  private SqlHelpers helpers;
  private SqlFence fence;

  SqlFenceTest(TestDatabase.Kind kind) {
    super(kind);
  }

  @BeforeEach
  void openHelpers() {
    helpers = SqlHelpers.open(database.dataSource());
    fence = helpers.fence();
  }

  @AfterEach
  void closeHelpers() {
    helpers.close();
  }

  @Test
  void givenLaterTokenSeen_whenEarlierHolderEnters_thenRefusedWithTheCurrentToken()
      throws Exception {
    Connection successor = begin();
    fence.enter(successor, token(34));
    successor.commit();

    Connection stale = begin();
    StaleTokenException refused =
        catchThrowableOfType(StaleTokenException.class, () -> fence.enter(stale, token(33)));

    assertThat(refused.currentToken()).isEqualTo(34);
    assertThat(refused.currentHolder()).isEqualTo("holder-34");
    assertThat(refused.refused()).isEqualTo(token(33));
    assertThat(refused.isGrantedTwice()).isFalse();
    assertThat(refused).hasMessageContaining("33").hasMessageContaining("34");
    stale.rollback();
    assertThat(fence.latest(stale, "account/42")).hasValue(34);
    assertThat(fence.latest(stale, "account/43")).isEmpty();
  }

  @Test
  void givenHolder_whenItEntersAgain_thenItMay_inThisTransactionAndTheNext() throws Exception {
    Connection connection = begin();
    fence.enter(connection, token(33));
    fence.enter(connection, token(33));
    connection.commit();
    fence.enter(connection, token(33));
    fence.enter(connection, token(35));
    connection.commit();
    assertThat(fence.latest(connection, "account/42")).hasValue(35);
  }

  @Test
  void givenTokenOfAnotherHolder_whenTheSameIsShown_thenRefusedAsGrantedTwice() throws Exception {
    Connection connection = begin();
    fence.enter(connection, token(33));
    connection.commit();
    FencingToken twin = new FencingToken("account/42", 33, "somebody else");
    StaleTokenException refused =
        catchThrowableOfType(StaleTokenException.class, () -> fence.enter(connection, twin));
    assertThat(refused.isGrantedTwice()).isTrue();
    assertThat(refused).hasMessageContaining("forgot");
  }

  @Test
  void givenRollback_thenTheTokenIsTakenBack() throws Exception {
    Connection connection = begin();
    fence.enter(connection, token(34));
    connection.rollback();
    fence.enter(connection, token(33));
    connection.commit();
    assertThat(fence.latest(connection, "account/42")).hasValue(33);
  }

  @Test
  void givenAutocommit_thenRefused() throws Exception {
    try (Connection connection = database.connect()) {
      assertThatThrownBy(() -> fence.enter(connection, token(1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("autocommit");
    }
  }

  /** The positive control: without entering, checks at the write do not save the reader. */
  @Test
  void givenNobodyEnters_whenStaleHolderWritesBetweenReadAndWrite_thenItsWriteIsLost()
      throws Exception {
    Connection stale = begin();
    Connection current = begin();
    long staleRead = balance(stale);
    stale.commit();
    long read = balance(current);
    current.commit();
    pay(stale, staleRead - 10);
    stale.commit();
    pay(current, read - 10);
    current.commit();
    assertThat(committedBalance()).as("20 were paid, 10 are gone").isEqualTo(90);
  }

  @Test
  void givenEnteredBeforeTheRead_whenStaleHolderWritesBetweenReadAndWrite_thenItIsRefused()
      throws Exception {
    Connection stale = begin();
    Connection current = begin();
    fence.enter(stale, token(33));
    long staleRead = balance(stale);
    stale.commit();
    fence.enter(current, token(34));
    long read = balance(current);
    current.commit();

    assertThatThrownBy(
            () -> {
              fence.enter(stale, token(33));
              pay(stale, staleRead - 10);
            })
        .isInstanceOf(StaleTokenException.class);
    stale.rollback();

    fence.enter(current, token(34));
    pay(current, read - 10);
    current.commit();
    assertThat(committedBalance()).isEqualTo(90);
  }

  @Test
  void givenHolderThatEnteredInTime_whenItsSuccessorEnters_thenItWaitsAndReadsTheWrite()
      throws Exception {
    Connection early = begin();
    fence.enter(early, token(33));
    pay(early, balance(early) - 10);
    Connection successor = begin();
    Future<Long> read =
        start(
            () -> {
              fence.enter(successor, token(34));
              return balance(successor);
            });
    assertThat(waits(read)).isTrue();
    early.commit();
    assertThat(get(read)).isEqualTo(90);
    successor.commit();
  }

  /** Transactions of holders that overlap at random: the successful writes must add up. */
  @Test
  void givenManyStaleHolders_thenEveryWriteThatWasLetIsThere_andWithoutFenceSomeAreLost()
      throws Exception {
    int unguarded = payConcurrently(false);
    assertThat(committedBalance()).as("the control loses writes").isGreaterThan(100 - unguarded);
    try (Connection connection = database.connect()) {
      pay(connection, 100);
    }
    int written = payConcurrently(true);
    assertThat(written).isPositive();
    assertThat(committedBalance()).isEqualTo(100 - written);
  }

  /** Each hold reads in one transaction and writes in another; returns how many wrote. */
  private int payConcurrently(boolean fenced) throws Exception {
    AtomicLong tokens = new AtomicLong();
    AtomicInteger written = new AtomicInteger();
    int threads = 4;
    CyclicBarrier allRead = new CyclicBarrier(threads);
    List<Future<Void>> holders = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Connection connection = begin();
      holders.add(
          start(
              () -> {
                for (int i = 0; i < 15; i++) {
                  FencingToken token = fenced ? token(tokens.incrementAndGet()) : null;
                  try {
                    enter(connection, token);
                    long read = balance(connection);
                    connection.commit();
                    if (!fenced && i == 0) {
                      allRead.await(); // The control must lose writes for certain.
                    }
                    enter(connection, token);
                    pay(connection, read - 1);
                    connection.commit();
                    written.incrementAndGet();
                  } catch (StaleTokenException e) {
                    connection.rollback();
                  }
                }
                return null;
              }));
    }
    for (Future<Void> holder : holders) {
      get(holder);
    }
    return written.get();
  }

  private void enter(Connection connection, FencingToken token) throws SQLException {
    if (token != null) {
      fence.enter(connection, token);
    }
  }

  @Test
  void givenFirstUseOfManyLocksAtOnce_thenNobodyWaitsForAnotherAndNothingDeadlocks()
      throws Exception {
    for (int isolation :
        new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ}) {
      if (kind == TestDatabase.Kind.SQLITE) {
        return; // It has one writer.
      }
      CyclicBarrier start = new CyclicBarrier(6);
      CyclicBarrier entered = new CyclicBarrier(6);
      List<Future<Void>> users = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        Connection connection = begin();
        connection.setTransactionIsolation(isolation);
        String name = "new/" + isolation + "/" + t;
        users.add(
            start(
                () -> {
                  start.await();
                  fence.enter(connection, new FencingToken(name, 1, "h"));
                  entered.await();
                  connection.commit();
                  return null;
                }));
      }
      for (Future<Void> user : users) {
        get(user);
      }
    }
  }

  @Test
  void givenLeases_whenTheLockWentOnToAnother_thenTheFirstIsRefused() throws Exception {
    try (LockClient locks = LockClient.connect("mem:")) {
      FencingToken old;
      Connection connection = begin();
      try (Lease lease = locks.lock("account/42").acquire()) {
        old = lease.fencingToken();
        fence.enter(connection, lease);
        connection.commit();
      }
      try (Lease lease = locks.lock("account/42").acquire()) {
        fence.enter(connection, lease);
        connection.commit();
      }
      assertThatThrownBy(() -> fence.enter(connection, old))
          .isInstanceOf(StaleTokenException.class);
      connection.rollback();
      try (Lease reader = locks.readWriteLock("account/42").readLock().acquire()) {
        assertThatThrownBy(() -> fence.enter(connection, reader))
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void givenTablesThatMayNotBeMade_thenOpeningTellsWhichFileMakesThem() {
    SqlHelperOptions options =
        SqlHelperOptions.DEFAULTS.withPrefix("other_").withCreateTables(false);
    assertThatThrownBy(() -> SqlHelpers.open(database.dataSource(), options))
        .isInstanceOf(io.mortise.StoreUnfitException.class)
        .hasMessageContaining("helpers.sql");
    assertThatThrownBy(
            () ->
                SqlHelpers.open(
                    database.dataSource(), SqlHelperOptions.DEFAULTS.withPrefix("x; DROP")))
        .isInstanceOf(IllegalArgumentException.class);
    SqlHelpers.open(database.dataSource(), options.withCreateTables(true)).close();
    assertThatCode(() -> SqlHelpers.open(database.dataSource(), options).close())
        .doesNotThrowAnyException();
  }
}
