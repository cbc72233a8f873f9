package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.admin.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.SessionDriver;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Inspections of the tables, beside those of every store. */
class InspectionTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final LockName NAME = LockName.of("wanted");

  @TempDir private Path folder;

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("locks.db");
  }

  private static LockInfo look(LockStore store) {
    return BoundedWait.join(store.inspect(LockQuery.of(NAME.value()))).items().get(0);
  }

  @Test
  void givenHolderWhoseSessionIsOver_thenItIsKnownUntilSomebodyHasJudgedIt() throws SQLException {
    try (LockStore store = JdbcStore.open(url())) {
      SessionDriver a = SessionDriver.open(store, LONG, "a");
      a.hold(NAME, Mode.EXCLUSIVE);
      try (Connection connection = DriverManager.getConnection(url());
          Statement statement = connection.createStatement()) {
        statement.executeUpdate("UPDATE mortise_session SET expires_us = 1");
      }
      LockParticipant holder = look(store).holders().get(0);
      assertThat(holder.sessionLeft()).isZero();
      assertThat(holder.client()).isEqualTo(new ClientInfo("testhost", 4711, "a"));
      assertThat(holder.sessionTtl()).isEqualTo(LONG);
      BoundedWait.join(store.judge(a.id()));
      LockParticipant judged = look(store).holders().get(0);
      assertThat(judged.sessionLeft()).isZero();
      assertThat(judged.client()).isNull();
      assertThat(judged.sessionTtl()).isZero();
    }
  }

  @Test
  void givenLongerQueueThanIsListed_thenAllWaitersAreCounted() {
    try (LockStore store = JdbcStore.open(url())) {
      SessionDriver a = SessionDriver.open(store, LONG, "a");
      List<CompletableFuture<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < 1_006; i++) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        replies.add(reply);
        a.session()
            .submit(
                new Request.Acquire(
                    NAME, a.attempt(), Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null),
                reply::complete);
      }
      replies.forEach(BoundedWait::join);
      LockInfo view = look(store);
      assertThat(view.waiters()).hasSize(1_000);
      assertThat(view.waiterCount()).isEqualTo(1_005);
    }
  }
}
