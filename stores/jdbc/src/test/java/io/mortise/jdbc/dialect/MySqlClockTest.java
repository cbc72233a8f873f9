package io.mortise.jdbc.dialect;

import io.mortise.jdbc.DatabaseProduct;
import io.mortise.testkit.RerunIfPaused;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

@RerunIfPaused
@Tag("extended")
class MySqlClockTest extends ServerClockSuite {
  MySqlClockTest() {
    super(DatabaseProduct.MYSQL);
  }

  @Override
  Duration ttl() {
    return TTL.multipliedBy(3);
  }
}
