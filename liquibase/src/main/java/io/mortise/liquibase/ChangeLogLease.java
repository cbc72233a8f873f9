package io.mortise.liquibase;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import java.sql.Connection;
import java.sql.SQLException;
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

  private final ClientSource clients;
  private final LockClient client;
  private final Lease lease;

  ChangeLogLease(ClientSource clients, LockClient client, Lease lease, Database database) {
    this.clients = clients;
    this.client = client;
    this.lease = lease;
    lease.onLost(loss -> abort(database));
  }

  /** Whether it is neither lost nor released. */
  boolean isHeld() {
    Lease.State state = lease.state();
    return state == Lease.State.HELD || state == Lease.State.SUSPECT;
  }

  private void abort(Database database) {
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
