package io.mortise.bench.subject;

import java.sql.SQLException;

/** Locks in a database, with a connection per thread. */
abstract class DatabaseSubject implements Subject {
  final BenchDatabase benchDatabase;

  DatabaseSubject(BenchDatabase benchDatabase) {
    this.benchDatabase = benchDatabase;
  }

  @Override
  public void onThreadExit() throws SQLException {
    benchDatabase.closeMine();
  }

  @Override
  public void close() {
    benchDatabase.close();
  }
}
