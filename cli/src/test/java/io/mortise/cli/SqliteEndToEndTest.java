package io.mortise.cli;

/** On the embedded store, which is the default. */
class SqliteEndToEndTest extends EndToEnd {
  @Override
  String url() {
    return "jdbc:sqlite:" + folder.resolve("locks.db");
  }
}
