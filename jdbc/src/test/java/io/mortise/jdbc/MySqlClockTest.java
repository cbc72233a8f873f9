package io.mortise.jdbc;

import io.mortise.testkit.Unpaused;

@Unpaused
class MySqlClockTest extends ServerClockSuite {
  MySqlClockTest() {
    super(Product.MYSQL);
  }
}
