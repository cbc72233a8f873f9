package io.mortise.jdbc;

import io.mortise.testkit.RerunIfPaused;

@RerunIfPaused
class H2ClockTest extends ServerClockSuite {
  H2ClockTest() {
    super(DatabaseProduct.H2);
  }
}
