package io.mortise.jdbc.dialect;

import io.mortise.jdbc.DatabaseProduct;
import io.mortise.testkit.RerunIfPaused;
import java.time.Duration;

@RerunIfPaused
class MySqlClockTest extends ServerClockSuite {
  MySqlClockTest() {
    super(DatabaseProduct.MYSQL);
  }

  @Override
  Duration ttl() {
    return TTL.multipliedBy(3);
  }
}
