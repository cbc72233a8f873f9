package io.mortise.jdbc.dialect;

import io.mortise.jdbc.DatabaseProduct;
import io.mortise.testkit.RerunIfPaused;

@RerunIfPaused
class H2ClockTest extends ServerClockSuite {
  H2ClockTest() {
    super(DatabaseProduct.H2);
  }
}
