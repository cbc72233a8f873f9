package io.mortise.jdbc;

import io.mortise.testkit.Unpaused;

@Unpaused
class MariaDbClockTest extends ServerClockSuite {
  MariaDbClockTest() {
    super(Product.MARIADB);
  }
}
