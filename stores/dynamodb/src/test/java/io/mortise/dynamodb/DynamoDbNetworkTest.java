package io.mortise.dynamodb;

import io.mortise.testkit.contract.client.NetworkContract;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The store over networks that misbehave. */
@Tag("extended")
class DynamoDbNetworkTest extends NetworkContract {
  DynamoDbNetworkTest() {
    super(() -> Dynalites.shared().url() + "?namespace=network", "timeout", Duration.ofSeconds(1));
  }

  /** The client of AWS closes connections after 5 s. */
  @Override
  protected Duration idle() {
    return Duration.ofSeconds(7);
  }
}
