package io.mortise.cli;

import org.junit.jupiter.api.Tag;

/** On the embedded store, which is the default. */
@Tag("product")
class SqliteEndToEndTest extends EndToEnd {
  @Override
  String url() {
    return "jdbc:sqlite:" + folder.resolve("locks.db");
  }
}
