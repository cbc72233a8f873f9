package io.mortise.jdbc;

import io.mortise.testkit.Unpaused;

@Unpaused
class H2ClockTest extends ServerClockSuite {
  H2ClockTest() {
    super(Product.H2);
  }
}
