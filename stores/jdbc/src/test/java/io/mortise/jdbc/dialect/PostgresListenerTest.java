package io.mortise.jdbc.dialect;

import io.mortise.jdbc.notify.WaitingSession;
import io.mortise.jdbc.table.SqlText;
import io.mortise.spi.time.Ticker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Its thread, without a server. */
class PostgresListenerTest {
  @Test
  void givenErrorWhileItConnects_thenItConnectsAgain() {
    AtomicInteger tries = new AtomicInteger();
    WaitingSession session = new WaitingSession();
    try (ServerDatabase database =
        new ServerDatabase(
            new PostgresDialect(),
            () -> {
              if (tries.incrementAndGet() == 1) {
                throw new LinkageError("for a test");
              }
              throw new SQLException("There is no server.");
            },
            false,
            "postgresql",
            SqlText.DEFAULT_PREFIX,
            "default",
            Duration.ofSeconds(5))) {
      PostgresListener listener =
          new PostgresListener(
              Objects.requireNonNull(PostgresDriver.find()),
              database,
              Ticker.SYSTEM,
              Map.of(session.id(), session),
              (channel, payload) -> CompletableFuture.completedFuture(true),
              () -> {});
      listener.onWaiterAdded();
      Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> tries.get() > 1);
      listener.close();
    }
  }
}
