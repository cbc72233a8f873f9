package io.mortise.jdbc;

import io.mortise.testkit.Unpaused;
import java.time.Duration;

@Unpaused
class MySqlClockTest extends ServerClockSuite {
  MySqlClockTest() {
    super(Product.MYSQL);
  }

  @Override
  Duration ttl() {
    return TTL.multipliedBy(3);
  }
}
