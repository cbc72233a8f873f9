package io.mortise.jdbc.batch;

import io.mortise.internal.runtime.CompletionStages;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.time.DurationText;
import io.mortise.spi.time.Ticker;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the connections of a {@link TransactionRunner}. Those by a URL have time limits of ours. A
 * data source of the application may have none, and wait for ever for a server that has stood still
 * once. So it is asked on a thread of its own, and what comes too late is for the next who needs a
 * connection. Used by the leader only.
 */
final class ConnectionMaker {
  private static final Logger log = LoggerFactory.getLogger(ConnectionMaker.class);

  /** The time before a retry. Longer than a connect takes to fail by itself. */
  private static final Duration HUNG = Duration.ofMinutes(3);

  private final Database database;
  private final Ticker ticker;

  /** So long a connection that came too late is kept: its pool may miss it, and it may break. */
  private static final Duration KEPT = Duration.ofSeconds(15);

  /** A connection that was asked for and not taken yet. */
  private @Nullable CompletableFuture<StoreConnection> arriving;

  private long askedAt;

  ConnectionMaker(Database database, Ticker ticker) {
    this.database = database;
    this.ticker = ticker;
  }

  /**
   * Blocks, for half of what a request may take if it is a data source that is asked.
   *
   * @throws SQLTransientConnectionException if there is none by then
   */
  StoreConnection connect() throws SQLException {
    if (!database.borrows() || database.callerRuns()) {
      return database.connect();
    }
    Duration most = database.profile().maxInFlight().dividedBy(2);
    CompletableFuture<StoreConnection> asked = asked();
    try {
      StoreConnection made = asked.get(most.toNanos(), TimeUnit.NANOSECONDS);
      arriving = null;
      return made;
    } catch (TimeoutException e) {
      throw none("within " + DurationText.format(most), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw none("before the thread was interrupted", e);
    } catch (ExecutionException e) {
      arriving = null;
      Throwable cause = CompletionStages.cause(e.getCause());
      if (cause instanceof SQLException failure) {
        throw failure;
      } else if (cause instanceof RuntimeException failure) {
        throw failure;
      } else if (cause instanceof Error failure) {
        throw failure;
      }
      throw new SQLException(cause);
    }
  }

  private CompletableFuture<StoreConnection> asked() {
    CompletableFuture<StoreConnection> asked = arriving;
    if (asked != null) {
      Duration most = asked.isDone() ? KEPT : HUNG;
      if (ticker.nanos() - askedAt > most.toNanos()) {
        close();
        asked = null;
      }
    }
    if (asked == null) {
      asked = CompletionStages.detached("mortise-jdbc-connect", database::connect);
      arriving = asked;
      askedAt = ticker.nanos();
    }
    return asked;
  }

  private static SQLTransientConnectionException none(String when, Exception cause) {
    return new SQLTransientConnectionException(
        "The data source gave no connection " + when, "08001", cause);
  }

  /** Gives a connection back that arrives later. */
  void close() {
    CompletableFuture<StoreConnection> late = arriving;
    arriving = null;
    if (late != null) {
      var unused = late.thenAccept(ConnectionMaker::giveBack);
    }
  }

  private static void giveBack(StoreConnection late) {
    try (late) {
      late.detach();
    } catch (SQLException e) {
      log.debug("A connection that came too late was broken when it was given back.", e);
    }
  }
}
