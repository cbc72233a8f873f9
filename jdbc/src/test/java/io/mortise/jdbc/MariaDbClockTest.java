package io.mortise.jdbc;

import io.mortise.testkit.RerunIfPaused;

@RerunIfPaused
class MariaDbClockTest extends ServerClockSuite {
  MariaDbClockTest() {
    super(DatabaseProduct.MARIADB);
  }
}
