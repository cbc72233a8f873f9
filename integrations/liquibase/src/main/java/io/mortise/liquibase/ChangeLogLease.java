package io.mortise.liquibase;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.LockClient;
import io.mortise.LockName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import liquibase.database.Database;
import liquibase.database.jvm.JdbcConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hold of one run of Liquibase. When the lease is lost, the connection of the run is aborted:
 * Liquibase does not ask its lock service before a change set, so only this keeps the next one from
 * running beside another process. The database rolls back uncommitted changes.
 */
final class ChangeLogLease {
  private static final Logger log = LoggerFactory.getLogger(ChangeLogLease.class);

  /** Interval of checks whether the run has closed its connection. */
  private static final long LOOK_SECONDS = 1;

  private final ClientSource clients;
  private final LockClient client;
  private final Lease lease;
  private final Database database;

  ChangeLogLease(ClientSource clients, LockClient client, Lease lease, Database database) {
    this.clients = clients;
    this.client = client;
    this.lease = lease;
    this.database = database;
    lease.onLost(loss -> abort());
  }

  /** Whether it is neither lost nor released. */
  boolean isHeld() {
    Lease.State state = lease.state();
    return state == Lease.State.HELD || state == Lease.State.SUSPECT;
  }

  /**
   * Releases the lock if the run closes its connection and never releases: of two runs at one time
   * in a JVM, which share state of Liquibase, one may skip that. Does not block.
   *
   * @param held whether it is not released yet
   * @param forget removes it from the registry; false if it was released at that moment
   */
  void closeAfterConnection(BooleanSupplier held, BooleanSupplier forget) {
    Thread watcher =
        new Thread(null, () -> watch(held, forget), "mortise-liquibase-watcher", 0, false);
    watcher.setDaemon(true);
    watcher.start();
  }

  private void watch(BooleanSupplier held, BooleanSupplier forget) {
    try {
      while (isHeld() && held.getAsBoolean()) {
        TimeUnit.SECONDS.sleep(LOOK_SECONDS);
        if (isHeld() && isConnectionClosed() && forget.getAsBoolean()) {
          log.warn(
              "A run of Liquibase has ended without releasing lock '{}', which is released now. Let runs in one JVM"
                  + " follow each other.",
              LockName.of(lease.name()));
          close();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (LeaseLostException e) {
      log.debug("The lock was lost before: {}", e.getMessage());
    }
  }

  private boolean isConnectionClosed() {
    try {
      return database.getConnection() instanceof JdbcConnection jdbc
          && jdbc.getUnderlyingConnection().isClosed();
    } catch (SQLException e) {
      return false;
    }
  }

  private void abort() {
    log.warn(
        "The lease on lock '{}' was lost, so the connection of Liquibase is aborted. Run it again: change sets that"
            + " were finished are not repeated.",
        LockName.of(lease.name()));
    if (database.getConnection() instanceof JdbcConnection jdbc) {
      Connection connection = jdbc.getUnderlyingConnection();
      try {
        connection.abort(Runnable::run);
        // Some drivers ignore abort, and a pool takes its connection back by close.
        if (!connection.isClosed()) {
          connection.close();
        }
      } catch (SQLException e) {
        log.warn("The connection of Liquibase could not be aborted.", e);
      }
    }
  }

  /**
   * Releases the lock.
   *
   * @throws io.mortise.LeaseLostException if it was lost
   */
  void close() {
    try {
      lease.close();
    } finally {
      clients.giveBack(client);
    }
  }
}
