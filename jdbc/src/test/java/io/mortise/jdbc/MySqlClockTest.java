package io.mortise.jdbc;

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
