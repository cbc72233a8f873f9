package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.LockName;
import io.mortise.admin.LockQuery;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A sweep removes the rows of dead processes and idle locks. */
class SweepTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir private Path folder;

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("locks.db");
  }

  @Test
  void givenLockThatNobodyUsedForLong_whenSwept_thenItsRowIsGone_andItsNextTokenIsGreater()
      throws Exception {
    try (LockStore store = JdbcStore.open(url())) {
      SessionDriver session = SessionDriver.open(store, LONG, "client");
      LockName used = LockName.of("used");
      LockName once = LockName.of("once");
      session.end(used, session.hold(used, Mode.EXCLUSIVE).attempt());
      var last = session.hold(once, Mode.EXCLUSIVE);
      session.end(once, last.attempt());
      try (Connection connection = DriverManager.getConnection(url());
          Statement statement = connection.createStatement()) {
        statement.executeUpdate(
            "UPDATE mortise_lock SET touched_us = touched_us - 601000000 WHERE name = 'once'");
        assertThat(BoundedWait.join(store.sweep(100))).isEqualTo(1);
        try (ResultSet rows = statement.executeQuery("SELECT name FROM mortise_lock")) {
          assertThat(rows.next()).isTrue();
          assertThat(rows.getString(1)).isEqualTo("used");
          assertThat(rows.next()).isFalse();
        }
      }
      assertThat(session.hold(once, Mode.EXCLUSIVE).token()).isGreaterThan(last.token());
    }
  }

  @Test
  void givenTablesWithoutThatOfFacts_whenSwept_thenTheRestIsRemoved_andOnceSaysWhatIsMissing()
      throws Exception {
    for (String url : List.of(url() + "?", PostgresServers.V18.shared().url() + "&")) {
      try (Connection connection = DriverManager.getConnection(url.substring(0, url.length() - 1));
          Statement statement = connection.createStatement();
          LockStore store = JdbcStore.open(url + "prefix=without_")) {
        SessionDriver session = SessionDriver.open(store, LONG, "client");
        LockName once = LockName.of("once");
        session.end(once, session.hold(once, Mode.EXCLUSIVE).attempt());
        statement.executeUpdate("DROP TABLE without_fact");
        statement.executeUpdate("UPDATE without_lock SET touched_us = touched_us - 601000000");
        assertThat(BoundedWait.join(store.sweep(100))).as(url).isEqualTo(1);
        assertThat(BoundedWait.join(store.sweep(100))).isZero();
        assertThat(store.readFact(once))
            .failsWithin(LONG)
            .withThrowableThat()
            .havingRootCause()
            .withMessageContaining("without_fact");
        session.hold(once, Mode.EXCLUSIVE);
      }
    }
  }

  @Test
  void
      givenStrictExpiry_whenADeadProcessIsSwept_thenItsSessionAndItsLocksAreGone_notThoseOfOthers() {
    try (LockStore store = JdbcStore.open(url() + "?strict-expiry=true")) {
      assertThat(store.profile().can(Capability.AT_MOST)).isFalse();
      SessionDriver living = SessionDriver.open(store, LONG, "living");
      SessionDriver dead = SessionDriver.open(store, Duration.ofMillis(500), "dead");
      living.hold(LockName.of("kept"), Mode.EXCLUSIVE);
      dead.hold(LockName.of("left"), Mode.EXCLUSIVE);
      await()
          .atMost(LONG)
          .until(
              () -> {
                BoundedWait.join(store.sweep(100));
                return BoundedWait.join(store.inspect(LockQuery.all())).items().size() == 1;
              });
      assertThat(BoundedWait.join(store.inspect(LockQuery.of("kept"))).items()).hasSize(1);
      assertThat(BoundedWait.join(store.judge(dead.id())))
          .isInstanceOf(io.mortise.spi.SessionVerdict.SessionEnded.class);
    }
  }
}
