package io.mortise.jdbc.dialect;

import io.mortise.jdbc.DatabaseProduct;
import io.mortise.testkit.RerunIfPaused;

@RerunIfPaused
class MariaDbClockTest extends ServerClockSuite {
  MariaDbClockTest() {
    super(DatabaseProduct.MARIADB);
  }
}
