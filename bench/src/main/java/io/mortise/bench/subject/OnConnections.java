package io.mortise.bench.subject;

import java.sql.SQLException;

/** Locks in a database, asked by a connection per thread. */
abstract class OnConnections implements Subject {
  final Database database;

  OnConnections(Database database) {
    this.database = database;
  }

  @Override
  public void threadEnds() throws SQLException {
    database.closeMine();
  }

  @Override
  public void close() {
    database.close();
  }
}
